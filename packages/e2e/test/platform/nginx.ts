import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { assertDeclared, waitFor } from '@platform/testing';
import { parse } from 'yaml';
import { root } from '../deploy/chart.js';

/** The addresses of the replicas of each service. */
export type Upstreams = Readonly<Record<string, readonly string[]>>;

export interface Nginx {
  /** The entrance of the platform. */
  readonly url: string;
  readonly port: number;
  /** Returns all lines of its access log. */
  log(): string;
  /** Returns everything that it wrote to stderr. */
  errors(): string;
  /** Corresponds to the addresses inside a cluster: no path is hidden here. */
  readonly internalUrl: string;
  stop(): Promise<void>;
}

/** Returns the variables that the Compose file gives its gateway, but with these servers. */
function toVariables(upstreams: Upstreams, listen: string, settings: Settings): Record<string, string> {
  const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: { gateway: { environment: Record<string, string> } };
  };
  const { environment } = compose.services.gateway;
  const servers = Object.entries(upstreams).map(([name, addresses]) => {
    const variable = `${name.toUpperCase()}_SERVERS`;
    // Addresses need no lookup, which requires a newer nginx than distributions have.
    const [one = ''] = /\bserver [^;]*;/.exec(environment[variable] ?? '') ?? [];
    return [variable, addresses.map((address) => one.replace(/\S+:8080 resolve/, address)).join(' ')];
  });
  const own = Object.fromEntries(servers);
  // By default the processes of identity have this part, too.
  const mcp = own['MCP_SERVERS'] ?? own['IDENTITY_SERVERS'];
  return { ...environment, ...own, ...(mcp && { MCP_SERVERS: mcp }), ...settings, GATEWAY_LISTEN: listen };
}

/**
 * Like the entrypoint of the Compose file and of nginx's image: replaces all variables, but none of nginx's own
 * `$name`.
 */
function render(variables: Record<string, string>): string {
  const folder = join(root, 'packages/config/gateway');
  const script = `
    . '${folder}/trusted-proxies.sh'
    envsubst "$(env | sed -n 's/^\\([A-Za-z_]*\\)=.*/\${\\1}/p' | tr '\\n' ' ')" < '${folder}/nginx.conf.template'`;
  return execFileSync('sh', ['-ec', script], {
    env: { PATH: process.env.PATH, ...variables },
    encoding: 'utf8',
  });
}

const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const mainConfiguration = (isRoot: boolean, internal: string): string => `
${isRoot ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporaryPaths.map((name) => `${name}_temp_path ${name};`).join(' ')}
  include default.conf;
  server {
    listen ${internal};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / { proxy_pass http://identity; }
    location /api/v1/mail { proxy_pass http://mail; }
    location /api/v1/crawlingManager { proxy_pass http://crawl; }
  }
}
`;

/** Variables of the Compose file that its user may set. */
export type Settings = Readonly<Record<string, string>>;

/** Starts nginx with the configuration that Compose uses; its servers need not run yet. */
export async function startNginx(upstreams: Upstreams, settings: Settings = {}): Promise<Nginx> {
  assertDeclared('nginx');
  const folder = mkdtempSync(join(tmpdir(), 'platform-nginx-'));
  const [listen, internal] = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
  writeFileSync(
    join(folder, 'default.conf'),
    render(toVariables(upstreams, listen, { GATEWAY_TRUSTED_PROXIES: '', ...settings })),
  );
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(process.getuid?.() === 0, internal));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    // A file is used because nginx opens /dev/stdout by name, which a socket does not have.
    stdio: ['ignore', openSync(join(folder, 'log'), 'w'), 'pipe'],
  });
  const exited = once(child, 'exit');
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const url = `http://${listen}`;
  await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(errors);
      return (await fetch(`${url}/nowhere`)).status === 404;
    },
    { what: 'an answer of nginx' },
  );
  return {
    url,
    port: Number(new URL(url).port),
    errors: () => errors,
    log: () => readFileSync(join(folder, 'log'), 'utf8'),
    internalUrl: `http://${internal}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
