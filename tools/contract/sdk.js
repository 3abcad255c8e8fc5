/**
 * Generates a client from the contract: `npm run sdk -- typescript|python|go|java`, into sdk/<language>. Needs Java and
 * Maven.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, run } from './service.js';

const GENERATOR = '7.25.0';
const MAVEN_DEPENDENCY_PLUGIN = '3.6.1';
const ARTIFACT = 'openapi-generator-cli';

/** A client reads answers of a newer service, which may have more fields. */
const TOLERANT = 'disallowAdditionalPropertiesIfNotPresent=false';

/** The generator of each language, and what makes its client read well. Fields keep the names that the API has. */
const LANGUAGES = {
  typescript: [
    'typescript-fetch',
    'npmName=waitlist-client,supportsES6=true,paramNaming=original,modelPropertyNaming=original,useSingleRequestParameter=true',
  ],
  // Without the mapping `field` would be `var_field`.
  python: [
    'python',
    `packageName=waitlist_client,projectName=waitlist-client,${TOLERANT}`,
    '--name-mappings=field=field',
  ],
  // Without the prefix the constants of two enums would clash.
  go: [
    'go',
    `packageName=waitlist,isGoSubmodule=false,withGoMod=true,enumClassPrefix=true,generateInterfaces=false,${TOLERANT}`,
  ],
  java: [
    'java',
    `${TOLERANT},library=okhttp-gson,artifactId=waitlist-client,groupId=waitlist,apiPackage=waitlist.client.api,modelPackage=waitlist.client.model,invokerPackage=waitlist.client,hideGenerationTimestamp=true,useSingleRequestParameter=true`,
  ],
};

export async function generate(language) {
  const chosen = LANGUAGES[language];
  if (!chosen) throw new Error(`Say which: ${Object.keys(LANGUAGES).join(', ')}`);
  const [generator, properties, ...more] = chosen;
  const target = join(ROOT, 'sdk', language);
  await rm(target, { recursive: true, force: true });
  // A list whose items differ stays a list, for generators would make it a set, which has no order. In Java one of
  // several types is an Object, for the generated class can't write a list.
  const omitted = new Set(language === 'java' ? ['uniqueItems', 'oneOf'] : ['uniqueItems']);
  const contract = await readFile(join(ROOT, 'openapi/openapi.json'), 'utf8');
  const adapted = JSON.parse(contract, (key, value) => (omitted.has(key) ? undefined : value));
  const input = join(ROOT, 'sdk/openapi.json');
  await mkdir(join(ROOT, 'sdk'), { recursive: true });
  await writeFile(input, JSON.stringify(adapted));
  const code = await run(
    'java',
    [
      '-jar',
      await generatorJar(),
      'generate',
      `--input-spec=${input}`,
      `--generator-name=${generator}`,
      `--output=${target}`,
      `--additional-properties=${properties}`,
      '--git-user-id=waitlist',
      `--git-repo-id=${language === 'go' ? 'client' : 'waitlist-client'}`,
      ...more,
      '--global-property=apiTests=false,modelTests=false',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (code !== 0) throw new Error(`The generator failed for ${language} (${code})`);
  return target;
}

async function generatorJar() {
  const directory = join(ROOT, 'sdk/generator');
  const jar = join(directory, `${ARTIFACT}-${GENERATOR}.jar`);
  if (existsSync(jar)) return jar;
  const code = await run('mvn', [
    '--quiet',
    '--batch-mode',
    `org.apache.maven.plugins:maven-dependency-plugin:${MAVEN_DEPENDENCY_PLUGIN}:copy`,
    `-Dartifact=org.openapitools:${ARTIFACT}:${GENERATOR}`,
    `-DoutputDirectory=${directory}`,
  ]);
  if (code !== 0) throw new Error('Maven could not fetch the generator');
  return jar;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await generate(process.argv[2]));
}
