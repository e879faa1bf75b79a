// Writes the npm packages that an image of a service holds, its base image apart, as a CycloneDX 1.6 document:
// node packages/config/sbom.mjs <service> [file]
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, runMain, SetupError, setUp, toolEnv } from './setup.mjs';

const toPurl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;

function listComponents(byLicense) {
  const found = Object.entries(byLicense).flatMap(([license, packages]) =>
    packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, license }))),
  );
  return found
    .toSorted((a, b) => `${a.name}@${a.version}`.localeCompare(`${b.name}@${b.version}`))
    .map(({ name, version, license }) => ({
      type: 'library',
      'bom-ref': toPurl(name, version),
      name,
      version,
      purl: toPurl(name, version),
      licenses: [{ license: { name: license } }],
    }));
}

await runMain(async () => {
  const [service, file] = process.argv.slice(2);
  if (!['identity', 'mail', 'crawl'].includes(service))
    throw new SetupError('usage: node packages/config/sbom.mjs <identity|mail|crawl> [file]');
  await setUp({ build: false });
  const args = ['--filter-prod', `@platform/${service}...`, 'licenses', 'list', '--prod', '--json'];
  const options = { cwd: ROOT, env: toolEnv(), maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('pnpm', args, options);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'services', service, 'package.json'), 'utf8'));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': service, name: service, version } },
    components: listComponents(JSON.parse(stdout)),
  };
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (file) writeFileSync(file, text);
  else process.stdout.write(text);
});
