import { type Command, Option } from 'commander';
import { positiveInteger } from './arguments.js';
import { JSON_OPTION, printRow } from './output.js';
import { withServices } from './services.js';

export function addWebhook(program: Command): void {
  const webhook = program.command('webhook').description('manage webhooks');
  webhook
    .command('replay')
    .description('send the deliveries of a webhook again, whatever their status; a running service sends them')
    .argument('<webhook>', 'the id of the webhook', positiveInteger)
    .option('--since <time>', 'only those since then, such as 2026-11-21T09:30:00Z; all of the last 7 days if omitted')
    .addOption(new Option('--delivery <ids...>', 'only these, by their webhook-id').conflicts('since'))
    .option(...JSON_OPTION)
    .action((id: number, options: { since?: string; delivery?: string[]; json?: true }) =>
      withServices(async ({ replayDeliveries }) => {
        const replayed = await replayDeliveries(id, options);
        printRow(options, { webhook_id: id, replayed }, `Webhook ${id}: ${replayed} deliveries are sent again.`);
      }),
    );
}
