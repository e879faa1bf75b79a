import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type OwnPostgres, startOwnPostgres, waitFor } from '../src/index.js';

let server: OwnPostgres;
let pool: pg.Pool;

beforeEach(async () => {
  server = await startOwnPostgres();
  pool = new pg.Pool({ connectionString: server.url(), max: 2 });
  pool.on('error', () => undefined);
  await pool.query('create table kept as select 1 as one');
});

afterEach(async () => {
  await server.close();
  await pool.end();
});

const isAnswering = async (): Promise<boolean> => (await pool.query('select one from kept')).rowCount === 1;

test('a stopped server refuses connections, and restarts on the same port with its data', async () => {
  await server.stop();
  await expect(pool.query('select 1')).rejects.toThrow();
  await server.start();
  await waitFor(isAnswering, { what: 'an answer after the restart' });
});

test('a killed server recovers its data', async () => {
  await server.kill();
  await expect(pool.query('select 1')).rejects.toThrow();
  await server.start();
  await waitFor(isAnswering, { what: 'an answer after the crash' });
});

test('a paused server neither answers nor refuses until it is resumed', async () => {
  const [known, fresh] = [pool.query('select 1'), new pg.Client({ connectionString: server.url() })];
  await known;
  await server.pause();
  let answers = 0;
  const count = (): void => void answers++;
  const asked = pool.query('select 1').then(count);
  const connected = fresh.connect().then(count);
  await delay(300);
  expect(answers).toBe(0);
  await server.resume();
  await Promise.all([asked, connected]);
  const ended = once(fresh, 'end');
  await fresh.end();
  await ended;
});
