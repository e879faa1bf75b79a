import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestPostgres } from '../src/index.js';

const environment = { ...process.env };

afterEach(() => {
  process.env = { ...environment };
});

async function startFakeDocker(): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/_ping')) response.end('OK');
    else response.writeHead(500).end('{"message": "no registry here"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('uses a given server unchanged', async () => {
  const url = process.env['TEST_POSTGRES_ADMIN_URL'] as string;
  process.env['TEST_DATABASE_URL'] = url;
  const server = await startTestPostgres();
  expect(server).toMatchObject({ source: 'given', adminUrl: url });
  await server.stop();
});

test('fails when a given server cannot be reached, instead of using another', async () => {
  process.env['TEST_DATABASE_URL'] = 'postgresql://nobody@127.0.0.1:1/none';
  await expect(startTestPostgres()).rejects.toThrow(/TEST_DATABASE_URL is set, but .*ECONNREFUSED/);
});

test('warns in one line when the engine cannot provide the image, and uses the embedded server', async () => {
  const docker = await startFakeDocker();
  delete process.env['TEST_DATABASE_URL'];
  process.env['DOCKER_HOST'] = `tcp://127.0.0.1:${(docker.address() as AddressInfo).port}`;
  const lines: string[] = [];
  const server = await startTestPostgres((line) => lines.push(line));
  expect(server.source).toBe('embedded');
  expect(lines).toEqual([
    expect.stringMatching(/^tests: Docker answers, but .+ using the embedded PostgreSQL$/),
  ]);
  await server.stop();
  docker.closeAllConnections();
  docker.close();
});
