import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { startStopwatch } from '@platform/testing';
import { codeIn, startPlatform } from './platform.js';

/** Without shares, sixteen slots that are held for 10 s each would need 75 s for these. */
const INVITATIONS = 120;
const MAX_LOGIN_CODE_MS = 15_000;

/** Accepts connections and never responds. */
async function startBlackHole() {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const blackHole = await startBlackHole();
const platform = await startPlatform();
afterAll(async () => {
  await blackHole.close();
  await platform.close();
});

async function inviteMany(session: string): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let index = next++; index < INVITATIONS; index = next++) {
      const body = { email: `invited-${index}@elsewhere.example`, fullName: 'Ada Example' };
      // 503: the machine is busy, and nothing was done.
      for (let status = 503; status === 503;)
        ({ status } = await platform.identity.call('POST', '/api/v1/users', { token: session, body }));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
}

test('delivers a login code while another organisation has many invitations for a dead SMTP server', async () => {
  const member = await platform.createUser();
  await platform.drained();
  const other = await platform.identity.createOrganisation('admin@elsewhere.example');
  const smtp = { host: '127.0.0.1', port: blackHole.port, fromEmail: 'noreply@elsewhere.example', tls: 'none' };
  await platform.identity.call('POST', '/api/v1/configurationManager/smtpConfig', { token: other.session, body: smtp });
  await inviteMany(other.session);
  const stopwatch = startStopwatch();
  expect((await platform.post('otp', { email: member.email })).status).toBe(202);
  const otp = codeIn(await platform.mailTo(member.email, /code/));
  expect(stopwatch.stop()).toBeLessThan(MAX_LOGIN_CODE_MS);
  expect((await platform.post('login', { email: member.email, otp })).status).toBe(200);
}, 300_000); // prettier-ignore
