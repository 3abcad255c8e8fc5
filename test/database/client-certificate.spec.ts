import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freshFolder, runCli } from '../support/program.js';
import { freePort } from '../support/service-process.js';

const PROGRAM = 'drills/servers/mariadb';
/** CI fetches it; otherwise the test runs once a drill has. */
const hasMariaDb = process.env.CI === 'true' || spawnSync(PROGRAM, ['client', '--version']).status === 0;

// TEST_DATABASE_URL leads to servers that ask for no certificate, so the test starts its own.
(hasMariaDb ? describe : describe.skip)('a server that requires a client certificate', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let environment: Record<string, string>;
  const inFolder = (name: string) => join(folder.path, name);
  const certify = (name: string, ...args: string[]) =>
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '1',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        inFolder(`${name}.key`),
        '-out',
        inFolder(`${name}.crt`),
        ...args,
      ],
      { stdio: 'pipe' },
    );

  beforeAll(async () => {
    folder = await freshFolder();
    const port = await freePort();
    const signed = ['-CA', inFolder('ca.crt'), '-CAkey', inFolder('ca.key')];
    certify('ca');
    certify('server', ...signed, '-addext', 'subjectAltName=DNS:localhost');
    certify('client', ...signed);
    certify('stranger');
    writeFileSync(
      inFolder('init.sql'),
      `CREATE DATABASE IF NOT EXISTS waitlist;\nCREATE USER app@'%' IDENTIFIED BY 'p/a:ss' REQUIRE X509;\nGRANT ALL ON waitlist.* TO app@'%';\n`,
    );
    const options = [
      `--init-file=${inFolder('init.sql')}`,
      `--ssl-ca=${inFolder('ca.crt')}`,
      `--ssl-cert=${inFolder('server.crt')}`,
      `--ssl-key=${inFolder('server.key')}`,
    ];
    execFileSync(PROGRAM, ['start', inFolder('server'), String(port), ...options], { stdio: 'pipe' });
    environment = {
      DATABASE_URL: `mysql://localhost:${port}/waitlist?ssl=true`,
      DATABASE_USER: 'app',
      DATABASE_PASSWORD: 'p/a:ss',
      NODE_EXTRA_CA_CERTS: inFolder('ca.crt'),
    };
  });
  afterAll(async () => {
    execFileSync(PROGRAM, ['wipe', inFolder('server')], { stdio: 'pipe' });
    await folder.remove();
  });

  const listWith = async (certificate?: string) =>
    runCli(['owner', 'list'], {
      folder: folder.path,
      environment: {
        ...environment,
        ...(certificate && {
          DATABASE_TLS_CERT_FILE: inFolder(`${certificate}.crt`),
          DATABASE_TLS_KEY_FILE: inFolder(`${certificate}.key`),
        }),
      },
    });

  it('refuses the service without a certificate, and with one that its authority did not sign', async () => {
    expect(await listWith()).toMatchObject({
      stderr: expect.stringMatching(/^DATABASE_URL: Access denied for user 'app'.+ \(ER_ACCESS_DENIED_ERROR\)\.\n$/),
      exitCode: 1,
    });
    expect(await listWith('stranger')).toMatchObject({
      stderr: expect.stringMatching(/^DATABASE_URL: .*alert unknown ca \(ERR_SSL_.+\)\.\n$/),
      exitCode: 1,
    });
  });

  it('accepts the service with the certificate of DATABASE_TLS_CERT_FILE', async () => {
    // It is connected, and finds an empty database.
    expect(await listWith('client')).toMatchObject({
      stderr: expect.stringMatching(/^The database is not at the newest schema/),
      exitCode: 1,
    });
  });
});
