/**
 * Fuzzes a live service from its own document: `npm run contract:fuzz [-- --max-examples=500]`. The default fits CI.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { logIn, ROOT, run, startService } from './service.js';

const { values } = parseArgs({
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

// The log-in that the document shows, so that it is tried with an owner's password as well as with wrong ones.
const { components } = JSON.parse(await readFile(join(ROOT, 'openapi/openapi.json'), 'utf8'));
const service = await startService({ OWNER_PASSWORD: components.schemas.CreateTokens.properties.password.example });
try {
  process.exitCode = await run(
    join(environment, 'bin/schemathesis'),
    [
      `--config-file=${join(directory, 'schemathesis.toml')}`,
      'run',
      join(ROOT, 'openapi/openapi.json'),
      '--phases=examples,coverage,fuzzing,stateful',
      '--mode=all',
      `--max-examples=${values['max-examples']}`,
      `--seed=${values.seed}`,
      '--no-color',
    ],
    {
      env: {
        ...process.env,
        WAITLIST_URL: service.url,
        WAITLIST_EMAIL: service.email,
        WAITLIST_PASSWORD: service.password,
        WAITLIST_TOKEN: await logIn(service),
        WAITLIST_API_KEY: service.apiKey,
        WAITLIST_ID: '1',
      },
    },
  );
} finally {
  await service.stop();
}
