/**
 * Generates a client from the contract: `npm run sdk -- typescript|python|go|java`, into sdk/<language>. Needs Java and
 * Maven. `pack` also builds the package that is released.
 */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, run } from './service.js';

const GENERATOR = '7.25.0';
const MAVEN_DEPENDENCY_PLUGIN = '3.6.1';
const ARTIFACT = 'openapi-generator-cli';

const readJson = async (file) => JSON.parse(await readFile(join(ROOT, file), 'utf8'));
const NAMES = await readJson('release.json');
const { version: VERSION } = await readJson('package.json');
const [GROUP_ID, ARTIFACT_ID] = NAMES.java.split(':');
const GO_FOLDER = NAMES.go.slice(NAMES.go.lastIndexOf('/') + 1);
const JAVA_FILE = `${ARTIFACT_ID}-${VERSION}`;

/** A client reads answers of a newer service, which may have more fields. */
const TOLERANT = 'disallowAdditionalPropertiesIfNotPresent=false';

export async function must(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} failed (${code})`);
}

/**
 * The generator of each language and its options. In TypeScript and Python, fields keep the names of the API. `pack`
 * builds the package of the generated client into a folder.
 */
export const CLIENTS = {
  typescript: {
    generator: 'typescript-fetch',
    repository: NAMES.repository,
    properties: [
      `npmName=${NAMES.typescript}`,
      'supportsES6=true,paramNaming=original,modelPropertyNaming=original,useSingleRequestParameter=true',
    ],
    async pack(client, folder) {
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      await must('node', [tsc], { cwd: client });
      await must('node', [tsc, '-p', 'tsconfig.esm.json'], { cwd: client });
      const { name, version, main, types, module, sideEffects } = await readJson('sdk/typescript/package.json');
      const manifest = {
        name,
        version,
        description: 'Client of Waitlist Service',
        license: 'Apache-2.0',
        repository: { type: 'git', url: `git+${NAMES.repository}.git` },
        main,
        types,
        module,
        sideEffects,
        files: ['dist', 'src'],
      };
      await writeFile(join(client, 'package.json'), JSON.stringify(manifest, null, 2));
      await rm(join(client, '.npmignore'));
      await must('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: client });
    },
  },
  python: {
    generator: 'python',
    repository: NAMES.repository,
    properties: [`projectName=${NAMES.python},packageName=waitlist_client,packageVersion=${VERSION}`, TOLERANT],
    // Without the mapping `field` would be `var_field`.
    options: ['--name-mappings=field=field'],
    async pack(client, folder) {
      const generated = await readFile(join(client, 'pyproject.toml'), 'utf8');
      const project = generated
        .replace(/^name = .*$/m, `name = "${NAMES.python}"`)
        .replace(/^description = .*$/m, 'description = "Client of Waitlist Service"')
        .replace(/^authors = \[[^\]]*\]$/m, 'authors = [{ name = "Waitlist Service" }]');
      const data =
        '[tool.setuptools]\npackages.find.include = ["waitlist_client*"]\npackage-data.waitlist_client = ["py.typed"]';
      await writeFile(join(client, 'pyproject.toml'), `${project}\n${data}\n`);
      // It would repeat what pyproject.toml says, with the generator's name.
      await rm(join(client, 'setup.py'));
      await must('python3', ['-m', 'venv', '.venv'], { cwd: client });
      const wheel = ['wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', folder, '.'];
      await must(join(client, '.venv/bin/pip'), wheel, { cwd: client });
    },
  },
  go: {
    generator: 'go',
    repository: `https://${NAMES.go}`,
    // Without the prefix the constants of two enums would clash.
    properties: [
      `packageName=waitlist,packageVersion=${VERSION},isGoSubmodule=false,withGoMod=true`,
      `enumClassPrefix=true,generateInterfaces=false,${TOLERANT}`,
    ],
    async pack(client, folder) {
      await must('go', ['vet', '.'], { cwd: client });
      const files = (await readdir(client)).filter((name) => /\.go$|^(go\.(mod|sum)|README\.md|LICENSE)$/.test(name));
      const archive = join(folder, `${GO_FOLDER}-${VERSION}.tar.gz`);
      await must('tar', ['-czf', archive, `--transform=s,^,${GO_FOLDER}/,`, '-C', client, ...files]);
    },
  },
  java: {
    generator: 'java',
    repository: NAMES.repository,
    properties: [
      `groupId=${GROUP_ID},artifactId=${ARTIFACT_ID},artifactDescription=Client of Waitlist Service`,
      `licenseName=Apache-2.0,artifactUrl=${NAMES.repository},scmUrl=${NAMES.repository}`,
      `scmConnection=scm:git:${NAMES.repository}.git,scmDeveloperConnection=scm:git:${NAMES.repository}.git`,
      `developerName=Waitlist Service,developerEmail=,developerOrganization=,developerOrganizationUrl=${NAMES.repository}`,
      'apiPackage=waitlist.client.api,modelPackage=waitlist.client.model,invokerPackage=waitlist.client',
      `library=okhttp-gson,hideGenerationTimestamp=true,useSingleRequestParameter=true,${TOLERANT}`,
    ],
    async pack(client, folder) {
      await must('mvn', ['--quiet', '--batch-mode', 'compile'], { cwd: client });
      const about = join(client, 'target/classes/META-INF');
      await mkdir(about, { recursive: true });
      for (const name of ['README.md', 'LICENSE']) await copyFile(join(client, name), join(about, name));
      const jar = join(folder, `${JAVA_FILE}.jar`);
      await must('jar', ['--create', '--file', jar, '-C', join(client, 'target/classes'), '.']);
      await copyFile(join(client, 'pom.xml'), join(folder, `${JAVA_FILE}.pom`));
    },
  },
};

export async function generate(language) {
  const chosen = CLIENTS[language];
  if (!chosen) throw new Error(`Say which: ${Object.keys(CLIENTS).join(', ')}`);
  const [, user, repository] = new URL(chosen.repository).pathname.split('/');
  const target = join(ROOT, 'sdk', language);
  await rm(target, { recursive: true, force: true });
  // Arrays stay arrays: generators turn `uniqueItems` into a set, which has no order. In Java, `oneOf` becomes Object,
  // because the generated class cannot write a list.
  const omitted = new Set(language === 'java' ? ['uniqueItems', 'oneOf'] : ['uniqueItems']);
  const contract = await readFile(join(ROOT, 'openapi/openapi.json'), 'utf8');
  const adapted = JSON.parse(contract, (key, value) => (omitted.has(key) ? undefined : value));
  const input = join(ROOT, 'sdk/openapi.json');
  await mkdir(join(ROOT, 'sdk'), { recursive: true });
  await writeFile(input, JSON.stringify(adapted));
  await must(
    'java',
    [
      '-jar',
      await generatorJar(),
      'generate',
      `--input-spec=${input}`,
      `--generator-name=${chosen.generator}`,
      `--output=${target}`,
      `--additional-properties=${chosen.properties.join()}`,
      `--git-host=${new URL(chosen.repository).host}`,
      `--git-user-id=${user}`,
      `--git-repo-id=${repository}`,
      ...(chosen.options ?? []),
      '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await copyFile(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
  await writeFile(join(target, 'README.md'), await readme(language));
  return target;
}

/** Builds the package of a client into the folder, from a freshly generated client. */
export async function pack(language, folder) {
  const client = await generate(language);
  await CLIENTS[language].pack(client, folder);
}

/** What docs/client-sdks.md says of one client and of all. */
async function readme(language) {
  const page = await readFile(join(ROOT, 'docs/client-sdks.md'), 'utf8');
  const section = (title) => new RegExp(`^## ${title}\n\n([^]*?)\n*(?=^## |$(?![^]))`, 'im').exec(page)[1];
  const text = `# ${NAMES[language]}

A client of [Waitlist Service](${NAMES.repository}), generated from its contract.

${section(language)}

${section('Authentication')}

${section('Later versions')}

License: Apache-2.0.
`;
  return text.replaceAll('$VERSION', VERSION).replaceAll('<version>VERSION', `<version>${VERSION}`);
}

async function generatorJar() {
  const directory = join(ROOT, 'sdk/generator');
  const jar = join(directory, `${ARTIFACT}-${GENERATOR}.jar`);
  if (existsSync(jar)) return jar;
  await must('mvn', [
    '--quiet',
    '--batch-mode',
    `org.apache.maven.plugins:maven-dependency-plugin:${MAVEN_DEPENDENCY_PLUGIN}:copy`,
    `-Dartifact=org.openapitools:${ARTIFACT}:${GENERATOR}`,
    `-DoutputDirectory=${directory}`,
  ]);
  return jar;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await generate(process.argv[2]));
}
