/**
 * Makes a release in an empty folder: `npm run release -- <version>`. The folder then holds the image, the chart, the
 * clients, the bill of materials, the notes and the checksums. The names come from release.json.
 *   --into <folder>     default: release/<version>
 *   --trial             allows placeholders in names, changes that are not committed, and a version that ends with -dev
 *   --without-image     for machines that cannot build it
 *   --clients <folder>  in a trial: takes the clients that `PACKAGES=<folder> npm run test:sdk` has built
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CLIENTS, pack } from '../tools/contract/sdk.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string' },
    into: { type: 'string' },
    trial: { type: 'boolean', default: false },
    'without-image': { type: 'boolean', default: false },
  },
});
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const FAILURE_CHARACTERS_MAX = 4_000;

const withImage = !options['without-image'];
const read = (file) => readFileSync(file, 'utf8');
const names = JSON.parse(read('release.json'));
const { version } = JSON.parse(read('package.json'));
const folder = resolve(options.into ?? `release/${version}`);

/** Returns what the command prints on standard output. */
function run(command, args, cwd) {
  try {
    const stdio = ['ignore', 'pipe', 'inherit'];
    return execFileSync(command, args, { encoding: 'utf8', stdio, maxBuffer: OUTPUT_BYTES_MAX, cwd });
  } catch (error) {
    console.error(error.stdout.slice(-FAILURE_CHARACTERS_MAX));
    throw error;
  }
}

function refuse(reason) {
  console.error(reason);
  process.exit(1);
}

const has = (program) => spawnSync('which', [program]).status === 0;

/** The section of the changelog, with links that work outside of the repository. */
function notes() {
  const title = version.endsWith('-dev') ? 'Unreleased' : version;
  const section = read('CHANGELOG.md')
    .split(/^## /m)
    .find((text) => text.split(/[ \n]/)[0] === title);
  if (!section) refuse(`CHANGELOG.md has no section "${title}".`);
  const text = section.slice(section.indexOf('\n')).trim();
  return `${text.replace(/\]\((?!https?:|#)/g, `](${names.repository}/blob/v${version}/`)}\n`;
}

/** The chart takes the released image, so its values and README differ from those of the tree. */
function packChart(work) {
  const tools = run('deploy/install-tools', []).trim().split('\n').at(-1);
  const chart = join(work, 'chart');
  cpSync('deploy/chart', chart, { recursive: true });
  cpSync('LICENSE', join(chart, 'LICENSE'));
  const readme = join(chart, 'README.md.gotmpl');
  writeFileSync(readme, read(readme).replaceAll('](../../', `](${names.repository}/blob/v${version}/`));
  const values = join(chart, 'values.yaml');
  const repository = /(?<=^image:\n(?: +#.*\n)* +repository: ).*$/m;
  if (!repository.test(read(values))) throw new Error('values.yaml of the chart has no image.repository.');
  writeFileSync(values, read(values).replace(repository, names.image));
  run(`${tools}/helm-docs`, ['--chart-search-root', chart, '--sort-values-order', 'file', '--log-level', 'warning']);
  run(`${tools}/helm`, ['package', chart, '--version', version, '--app-version', version, '--destination', folder]);
  const archive = join(folder, `waitlist-service-${version}.tgz`);
  run(`${tools}/helm`, ['lint', '--strict', '--quiet', archive]);
  const manifests = run(`${tools}/helm`, ['template', 'waitlist', archive]);
  if (!manifests.includes(`image: ${names.image}:${version}\n`)) throw new Error('The chart does not name the image.');
}

function packImage(work) {
  const image = (command, ...args) => run('drills/servers/image', [command, join(work, 'image'), ...args]);
  const tag = `${names.image}:${version}`;
  const commit = (format) => run('git', ['log', '-1', `--format=${format}`]).trim();
  const labels = [`VERSION=${version}`, `REVISION=${commit('%H')}`].flatMap((label) => ['--build-arg', label]);
  try {
    image('build', tag, '--timestamp', commit('%ct'), ...labels);
    const platform = image(
      'buildah',
      'inspect',
      '--type',
      'image',
      '--format',
      '{{.OCIv1.OS}}-{{.OCIv1.Architecture}}',
      tag,
    );
    image('archive', tag, join(folder, `waitlist-service-${version}-${platform.trim()}.tar`));
  } finally {
    image('wipe');
  }
}

const [wanted = options.trial ? version : undefined] = positionals;
if (wanted === undefined) refuse('Say which version: npm run release -- <version>');
if (wanted !== version) refuse(`This tree is version ${version}, as package.json says, and not ${wanted}.`);
if (!options.trial) {
  const placeholders = Object.values(names).filter((name) => /\bexample\b/.test(name));
  if (placeholders.length > 0)
    refuse(`release.json has placeholders: ${placeholders.join(', ')}. --trial allows them.`);
  if (version.endsWith('-dev')) refuse(`${version} is no version of a release. --trial allows it.`);
  if (options.clients) refuse('--clients is for trials: a release builds its clients.');
  if (run('git', ['status', '--porcelain']) !== '') refuse('Commit all changes first. --trial allows them.');
}
const missing = ['java', 'mvn', 'jar', 'python3', 'go', 'tar', 'sha256sum'].filter((program) => !has(program));
if (missing.length > 0) refuse(`It needs ${missing.join(', ')}.`);
if (withImage && !(process.getuid?.() === 0 && has('buildah') && has('crun')))
  refuse('The image can be built only on Linux, as root, with buildah and crun. --without-image leaves it out.');
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) refuse(`${folder} is not empty.`);

const work = mkdtempSync(join(tmpdir(), 'waitlist-release-'));
try {
  writeFileSync(join(folder, 'NOTES.md'), notes());
  writeFileSync(join(folder, 'sbom.cdx.json'), run('node', ['scripts/sbom.js']));
  packChart(work);
  if (options.clients) cpSync(options.clients, folder, { recursive: true });
  else for (const language of Object.keys(CLIENTS)) await pack(language, folder);
  if (withImage) packImage(work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
writeFileSync(join(folder, 'SHA256SUMS'), run('sha256sum', readdirSync(folder).sort(), folder));
console.log(run('ls', ['-l', folder]));
