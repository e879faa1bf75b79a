import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { assertDeclared, waitFor } from '@platform/testing';
import { parse } from 'yaml';
import { root } from '../deploy/kustomize.js';

/** Where the replicas of each service listen, by service. */
export type Upstreams = Readonly<Record<string, readonly string[]>>;

export interface Nginx {
  /** The entrance of the platform. */
  readonly url: string;
  /** What a cluster's own addresses are for the services: no path is hidden here. */
  readonly internalUrl: string;
  stop(): Promise<void>;
}

/** The variables that the Compose file gives its gateway, with these servers in place of its own. */
function variablesOf(upstreams: Upstreams, listen: string): Record<string, string> {
  const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: { gateway: { environment: Record<string, string> } };
  };
  const { environment } = compose.services.gateway;
  const servers = Object.entries(upstreams).map(([name, addresses]) => {
    const variable = `${name.toUpperCase()}_SERVERS`;
    // Addresses need no looking up, which takes a newer nginx than distributions have.
    const [one = ''] = /\bserver [^;]*;/.exec(environment[variable] ?? '') ?? [];
    return [variable, addresses.map((address) => one.replace(`${name}:8080 resolve`, address)).join(' ')];
  });
  return { ...environment, ...Object.fromEntries(servers), GATEWAY_LISTEN: listen };
}

/** As the image of nginx does: these variables, and no `$name` of nginx's own. */
function render(variables: Record<string, string>): string {
  const names = Object.keys(variables).map((name) => `\${${name}}`);
  return execFileSync('envsubst', [names.join(' ')], {
    input: readFileSync(join(root, 'packages/config/gateway/nginx.conf.template')),
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

/** Starts nginx with the configuration that Compose uses; its servers need not be there yet. */
export async function startNginx(upstreams: Upstreams): Promise<Nginx> {
  assertDeclared('nginx');
  const folder = mkdtempSync(join(tmpdir(), 'platform-nginx-'));
  const [listen, internal] = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
  writeFileSync(join(folder, 'default.conf'), render(variablesOf(upstreams, listen)));
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(process.getuid?.() === 0, internal));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const url = `http://${listen}`;
  await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(errors);
      return (await fetch(`${url}/health/live`)).ok;
    },
    { what: 'an answer of nginx' },
  );
  return {
    url,
    internalUrl: `http://${internal}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
