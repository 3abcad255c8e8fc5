import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SECRETS, VARIABLES } from '../../src/platform/config/config.js';

const read = (path: string) => readFileSync(path, 'utf8');
const readJson = (path: string) => JSON.parse(read(path));
const matches = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found]) => found!);

describe('deploying', () => {
  const variables = [...VARIABLES].sort();

  it.each([
    ['docs/configuration.md', /^\| `([A-Z_]+)` +\|/gm],
    ['.env.example', /^#?([A-Z_]+)=/gm],
    ['compose.yaml', /^ {4,6}([A-Z_]+): /gm],
  ])('%s has every variable of the service and no other', (path, pattern) => {
    // MYSQL_… are those of the database's image.
    const found = matches(path, pattern).filter((name) => !name.startsWith('MYSQL_'));

    expect(found.sort()).toEqual(variables);
  });

  it('the chart takes every variable of the service and no other', () => {
    const { properties, patternProperties } = readJson('deploy/chart/values.schema.json').properties.config;
    const inConfig = Object.keys(properties);
    const inSecret = matches('deploy/chart/values.yaml', /^# {3}([A-Z_]+) +/gm);
    // NODE_… is of Node.js itself.
    const setByChart = matches(
      'deploy/chart/templates/_helpers.tpl',
      /^(?: {2}- name: )?([A-Z][A-Z_]+)(?::|$)/gm,
    ).filter((name) => !name.startsWith('NODE_'));
    const isOfPattern = (name: string) => Object.keys(patternProperties).some((pattern) => RegExp(pattern).test(name));

    expect(
      matches('deploy/chart/values.yaml', /^ {2}([A-Z_]+): /gm)
        .filter((name) => !isOfPattern(name))
        .sort(),
    ).toEqual(inConfig.sort());
    expect([...inConfig, ...inSecret, ...setByChart].sort()).toEqual(variables.filter((name) => !isOfPattern(name)));
  });

  it('the chart and the documentation have every secret that may come from a file', () => {
    const { secret } = readJson('deploy/chart/values.schema.json').properties;
    const [, documented = ''] = /^## Secrets from files\n(.*?)^## /ms.exec(read('docs/configuration.md')) ?? [];

    expect(secret.properties.keys.propertyNames.enum).toEqual(SECRETS);
    expect(matches('deploy/chart/values.yaml', /^# {3}([A-Z_]+) +/gm).sort()).toEqual([...SECRETS].sort());
    expect(Array.from(documented.matchAll(/`([A-Z_]+)_FILE`/g), ([, name]) => name)).toEqual(['NAME', ...SECRETS]);
  });

  it('the package, the contract, the chart and the image have one version', () => {
    const { version } = readJson('package.json');

    expect({
      lock: readJson('package-lock.json').version,
      contract: readJson('openapi/openapi.json').info.version,
      chart: matches('deploy/chart/Chart.yaml', /^(?:version|appVersion): (.+)$/gm),
      image: matches('Dockerfile', /^ARG VERSION=(.+)$/gm),
    }).toEqual({ lock: version, contract: version, chart: [version, version], image: [version] });
  });

  it('the names of a release stand in release.json, and the chart and the guide follow them', () => {
    const { chart, typescript, go, java } = readJson('release.json');
    const guide = read('docs/client-sdks.md');
    const [group, artifact] = java.split(':');

    expect(matches('deploy/chart/Chart.yaml', /^name: (.+)$/gm)).toEqual([chart.split('/').at(-1)]);
    expect(guide).toContain(`from '${typescript}'`);
    expect(guide).toContain(`-replace ${go}=`);
    expect(guide).toContain(`<groupId>${group}</groupId>\n  <artifactId>${artifact}</artifactId>`);
  });
});
