// Makes the Compose file that needs no clone, from the repository's own: images are named by version, and the files that
// are mounted from the clone there are in it. They are no `configs`: Compose refuses those with a `content` in containers
// that are read-only.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, parseDocument } from 'yaml';
import { ROOT } from '../config/setup.mjs';

const SERVICES = ['identity', 'mail', 'crawl'];
const TEMPLATES = '/etc/nginx/templates';
const read = (file) => readFile(join(ROOT, file), 'utf8');
/** Compose replaces variables in every text, but for `$$`. */
const escape = (text) => text.replaceAll('$', '$$$$');

const HEADER = (version) => ` The platform ${version} on one machine, with no clone of its repository:

   docker compose up --detach
   docker compose run --rm -T --entrypoint cat secrets /secrets/identity/admin-password

 Settings are in .env. The first start makes the secrets, in the volume "secrets"; the second command prints the password
 of admin@example.com for http://localhost:8080. platform.sh backs up, restores and upgrades.
 Needs Docker Engine 26 and Compose 2.26, or newer.`;

function writeScripts(document, { databases, template, trustedProxies }) {
  const container = document.get('services');
  const database = container.get('databases');
  database.set('entrypoint', document.createNode(['/bin/sh', '-ec'], { flow: true }));
  database.set('command', [escape(databases)]);
  const mounts = database.get('volumes').items;
  mounts.splice(0, mounts.length, ...mounts.filter((mount) => !isMap(mount) || mount.get('type') !== 'bind'));

  const gateway = container.get('gateway');
  gateway.get('tmpfs').add(`${TEMPLATES}:uid=101`);
  gateway.get('environment').set('GATEWAY_TEMPLATE', escape(template));
  const start = `${trustedProxies}printf %s "$GATEWAY_TEMPLATE" > ${TEMPLATES}/default.conf.template
unset GATEWAY_TEMPLATE
exec /docker-entrypoint.sh nginx -g 'daemon off;'
`;
  gateway.get('entrypoint').set(2, escape(start));
  gateway.delete('volumes');
}

function nameImages(document, images, version) {
  document.get('x-migration').delete('pull_policy');
  for (const service of SERVICES) {
    const image = `\${PLATFORM_IMAGES:-${images}}/${service}:${version}`;
    const definition = document.getIn(['services', service]);
    definition.delete('build');
    definition.delete('pull_policy');
    definition.set('image', image);
    document.setIn(['services', `migrate-${service}`, 'image'], image);
    if (service !== 'identity') continue;
    document.setIn(['services', 'mcp', 'image'], image);
    document.deleteIn(['services', 'mcp', 'pull_policy']);
  }
}

/** The example's settings, but for what is built; the version is in the Compose file, so settings outlive upgrades. */
const toSettings = (example, images) =>
  example
    .replace(/^# Settings of .*$/m, '# Settings of docker-compose.yml. Empty means the default.')
    .replace(
      /^# Images\..*\n(?:#.*\n)*IDENTITY_IMAGE=.*\nMAIL_IMAGE=.*\nCRAWL_IMAGE=.*\nIMAGES_PULL_POLICY=.*\n/m,
      `# The prefix of the names of the images: your own registry, where this machine can't reach that one.\nPLATFORM_IMAGES=${images}\n`,
    );

/**
 * @param {{version: string, images: string, folder: string}} about `images` is what the names of the images begin with
 * @returns {Promise<{file: string, kind: 'compose', name: string}[]>}
 */
export async function writeComposeFile({ version, images, folder }) {
  const document = parseDocument(await read('docker-compose.yml'));
  document.commentBefore = HEADER(version);
  nameImages(document, images, version);
  writeScripts(document, {
    databases: await read('packages/config/compose/databases.sh'),
    template: await read('packages/config/gateway/nginx.conf.template'),
    trustedProxies: await read('packages/config/gateway/trusted-proxies.sh'),
  });
  await mkdir(join(folder, 'compose'));
  const files = {
    'docker-compose.yml': document.toString({ lineWidth: 0, flowCollectionPadding: false }),
    '.env': toSettings(await read('.env.example'), images),
    'platform.sh': await read('packages/release/compose/platform.sh'),
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, 'compose', name), content);
  return Object.keys(files).map((name) => ({ file: join('compose', name), kind: 'compose', name }));
}
