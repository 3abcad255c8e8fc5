import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { REPORT } from '../bounds';
import { csvOf } from '../parts/csv';
import { count, countPeople } from '../parts/format';
import { wordsOf } from '../fault-words';
import { HeadRow } from '../parts/head-row';
import { saveFile } from '../parts/save-file';
import type { Waitlist } from '../queries';
import { meaningOf } from './columns';
import { fileName } from './file-name';
import type { ImportReport } from './import-runs';
import classes from './transfer.module.css';

/** The report of an import or a dry run. */
export function Report({
  report,
  isDryRun,
  waitlist,
}: {
  report: ImportReport;
  isDryRun: boolean;
  waitlist: Waitlist;
}) {
  const { errors, rejected, columns, ignored_columns: ignored } = report;
  const unread = columns.filter(({ ignored_values: amount }) => amount > 0);
  const read = columns.flatMap(({ header, column }) => (column === null ? [] : [`${header} as ${meaningOf(column)}`]));
  return (
    <Stack gap="sm">
      <ul className={classes.facts}>
        {factsOf(report, isDryRun).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {unread.length > 0 && (
        <Alert color="orange" variant="light" title={`Some values ${isDryRun ? 'cannot' : 'could not'} be read`}>
          <Stack gap="xs">
            {unread.map((column, index) => (
              <UnreadValues key={index} column={column} isDryRun={isDryRun} />
            ))}
          </Stack>
        </Alert>
      )}
      {errors.length > 0 && (
        <>
          <Text size="sm" fw={500} id="problems">
            {rejected > errors.length || errors.length === REPORT.errors.maxItems
              ? `The first ${count(errors.length)} problems`
              : 'Problems'}
          </Text>
          <div className={classes.problems} tabIndex={0} role="region" aria-labelledby="problems">
            <Table stickyHeader>
              <HeadRow columns={['Line', 'Problem']} />
              <Table.Tbody>
                {errors.map(({ line, field, message }, index) => (
                  <Table.Tr key={index}>
                    <Table.Td w={80}>{count(line)}</Table.Td>
                    <Table.Td className={classes.message ?? ''}>
                      <b>{meaningOf(field)}</b>: {wordsOf({ field, rule: '', message })}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
        </>
      )}
      {read.length > 0 && (
        <Text size="sm" c="dimmed" className={classes.message ?? ''}>
          Read: {read.join(', ')}
        </Text>
      )}
      {ignored.length > 0 && (
        <Text size="sm" c="dimmed" className={classes.message ?? ''}>
          Ignored {ignored.length === 1 ? 'column' : 'columns'}: {ignored.join(', ')}
        </Text>
      )}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => saveFile(fileName(`${waitlist.waitlist_name} import report`, '.csv'), fileOf(report))}
        >
          Download the report
        </Button>
      </Group>
    </Stack>
  );
}

/** How people without a value are imported, by column. */
const WITHOUT: Readonly<Record<string, string>> = {
  created_at: 'Without one, people join at the time of the import.',
  referred_by: 'Without one, people count as not referred.',
};

/** How many values of a column were left out, and the first lines with each fault. */
function UnreadValues({ column, isDryRun }: { column: ImportReport['columns'][number]; isDryRun: boolean }) {
  const { header, column: name, ignored_values: amount, first_ignored: first } = column;
  const values = amount === 1 ? '1 value' : `${count(amount)} values`;
  const misfit = amount === 1 ? 'does not fit' : 'do not fit';
  const meaning = meaningOf(name ?? '');
  const messages = [...new Set(first.map(({ message }) => message))];
  return (
    <div className={classes.message}>
      <Text size="sm">
        {values} of {header} {misfit} “{meaning}”, and {outcome('left out', amount, isDryRun)}.{' '}
        {WITHOUT[name ?? ''] ?? 'The people stay.'}
      </Text>
      {messages.map((message) => {
        const numbers = first.filter((fault) => fault.message === message).map(({ line }) => count(line));
        const shown = `${numbers.length === 1 ? 'line' : 'lines'} ${numbers.join(' · ')}`;
        return (
          <Text size="sm" key={message}>
            {amount > first.length ? 'For example, in' : 'In'} {shown}:{' '}
            {wordsOf({ field: name ?? '', rule: '', message })}
          </Text>
        );
      })}
    </div>
  );
}

function outcome(done: string, number: number, isDryRun: boolean): string {
  return `${isDryRun ? 'would be' : number === 1 ? 'was' : 'were'} ${done}`;
}

function factsOf(report: ImportReport, isDryRun: boolean): string[] {
  const { imported, skipped, rejected, unresolved_referrals: unresolved } = report;
  const would = (done: string, number: number) => outcome(done, number, isDryRun);
  return [
    `${countPeople(imported)} ${would('imported', imported)}.`,
    skipped > 0 &&
      `${lines(skipped)} ${skipped === 1 ? 'is' : 'are'} about somebody who is on the waitlist already, and ${would('skipped', skipped)}.`,
    rejected > 0 &&
      `${lines(rejected)} ${rejected === 1 ? 'has' : 'have'} a problem, and ${would('left out', rejected)}.`,
    unresolved > 0 && `${countPeople(unresolved)} named a referrer who is neither in the file nor on the waitlist.`,
  ].filter((fact) => fact !== false);
}

function lines(number: number): string {
  return number === 1 ? '1 line' : `${count(number)} lines`;
}

/** The counts, the faults of rejected lines, then those of values left out. Spreadsheets open it. */
function fileOf({ errors, columns, ...report }: ImportReport): Blob {
  const { imported, skipped, rejected, unresolved_referrals, ignored_values } = report;
  const counts = Object.entries({ imported, skipped, rejected, unresolved_referrals, ignored_values });
  return csvOf([
    ['line', 'field', 'message'],
    ...counts.map(([name, number]) => ['', name, number]),
    ...errors.map(({ line, field, message }) => [line, field, message]),
    ...columns.flatMap(({ first_ignored: first }) =>
      first.map(({ line, field, message }) => [line, field, `${message} (left out)`]),
    ),
  ]);
}
