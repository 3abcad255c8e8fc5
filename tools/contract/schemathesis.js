/**
 * Fuzzes a live service from each of its own documents: `npm run contract:fuzz [-- --max-examples=500]
 * [openapi|legacy]`. The default fits CI. Each document has a service of its own: the older generations have public
 * operations only, so their requests carry no credentials, with which `GET /api/v1/waiter` would be another operation.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { logIn, ROOT, run, startService } from './service.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'max-examples': { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const directory = join(ROOT, 'tools/contract/schemathesis');
const environment = join(directory, '.venv');
const python = join(environment, 'bin/python');

async function must(command, args) {
  const code = await run(command, args);
  if (code !== 0) process.exit(code);
}

if (!existsSync(join(environment, 'bin/schemathesis'))) {
  const versions = [
    '--requirement',
    join(directory, 'requirements.txt'),
    '--constraint',
    join(directory, 'constraints.txt'),
  ];
  await must('python3', ['-m', 'venv', environment]);
  await must(python, ['-m', 'pip', 'install', '--quiet', ...versions]);
}

const read = async (name) => JSON.parse(await readFile(join(ROOT, `openapi/${name}.json`), 'utf8'));

async function fuzz(name) {
  // The limit of `resend_verification` has no other setting that turns it off.
  const service = await startService({
    OWNER_PASSWORD: password,
    RATE_LIMIT_EXEMPT: '127.0.0.1,::1',
    // A stream of events never ends.
    LIVE_CONNECTIONS: '0',
  });
  const isPublic = name === 'legacy';
  try {
    return await run(
      join(environment, 'bin/schemathesis'),
      [
        `--config-file=${join(directory, 'schemathesis.toml')}`,
        'run',
        join(ROOT, `openapi/${name}.json`),
        '--phases=examples,coverage,fuzzing,stateful',
        '--mode=all',
        `--max-examples=${values['max-examples']}`,
        `--seed=${values.seed}`,
        '--no-color',
        // The paths of the older generations have other methods in the other document.
        ...(isPublic ? ['--exclude-checks=unsupported_method'] : []),
      ],
      {
        env: {
          ...process.env,
          WAITLIST_URL: service.url,
          WAITLIST_EMAIL: service.email,
          WAITLIST_PASSWORD: service.password,
          WAITLIST_TOKEN: isPublic ? '' : await logIn(service),
          WAITLIST_API_KEY: service.apiKey,
          WAITLIST_ID: '1',
        },
      },
    );
  } finally {
    await service.stop();
  }
}

// The log-in that the document shows, so that it is tried with an owner's password as well as with wrong ones.
const password = (await read('openapi')).components.schemas.CreateTokens.properties.password.example;
const names = positionals.length > 0 ? positionals : ['openapi', 'legacy'];
for (const name of names) process.exitCode = (await fuzz(name)) || process.exitCode;
