/** Prints the CycloneDX bill of materials of the dependencies. npm would name the whole after its directory. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const options = ['--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const bill = JSON.parse(execFileSync('npm', ['sbom', ...options], { maxBuffer: 2 ** 26 }));
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
Object.assign(bill.metadata.component, { name, version });
console.log(JSON.stringify(bill, null, 2));
