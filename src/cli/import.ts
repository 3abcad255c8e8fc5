import type { Command } from 'commander';
import { positiveInteger, readableFile } from './arguments.js';
import { JSON_OPTION, printRow, withProgress } from './output.js';
import { withServices } from './services.js';

export function addImport(waitlist: Command): void {
  waitlist
    .command('import')
    .description('add the people of a CSV file to a waitlist; run it again to complete an import that was interrupted')
    .argument('<waitlist>', 'the id of the waitlist', positiveInteger)
    .argument('<file>', 'a CSV file; its first line names the columns', readableFile)
    .option('--dry-run', 'only report what the import would do')
    .option(
      '--columns <json>',
      'what columns are read as, for example {"Adresse": "email", "Notes": "metadata", "Phone": null}',
    )
    .option(...JSON_OPTION)
    .action((id: number, file: string, options: { dryRun?: true; columns?: string; json?: true }) =>
      withServices(async ({ imports }) => {
        const { dryRun: isDryRun = false, columns } = options;
        const report = await withProgress('Importing', (onProgress) =>
          imports.importFile(file, { waitlistId: id, isDryRun, columns }, ({ done, total }) =>
            onProgress(done, total ?? 0),
          ),
        );
        const { imported, skipped, rejected, unresolved_referrals: unresolved, ignored_columns: ignored } = report;
        const counts = `${imported} imported, ${skipped} skipped, ${rejected} rejected, ${unresolved} unresolved referrals`;
        const lines = [
          `Waitlist ${id}: ${counts}${isDryRun ? ' (dry run: nothing was changed)' : ''}`,
          ...(ignored.length > 0 ? [`  ignored columns: ${ignored.join(', ')}`] : []),
          ...(report.columns ?? []).flatMap(({ header, column, ignored_values: amount, first_ignored: first }) =>
            amount > 0
              ? [
                  `  ${header}: ${amount === 1 ? '1 value does' : `${amount} values do`} not fit ${column}, left out`,
                  ...first.map(({ line, field, message }) => `    line ${line}: ${field} ${message}`),
                ]
              : [],
          ),
          ...report.errors.map(({ line, field, message }) => `  line ${line}: ${field} ${message}`),
        ];
        printRow(options, report, lines.join('\n'));
      }),
    );
}
