import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseOptions } from '../options.mjs';

const run = promisify(execFile);

test.each([
  [['--port', '99999'], '--port must be a port between 1 and 65535, not "99999"'],
  [['--inbox-port', '8080'], 'must be three ports'],
  [['--redis-url', 'http://a:1'], '--redis-url (REDIS_URL) must be like redis://'],
  [['--kafka-brokers', 'kafka'], '--kafka-brokers (KAFKA_BROKERS) must be like host1:9092'],
  [['--demo-folder', '/no/such/folder'], '--demo-folder must be a folder of Markdown, HTML or text files'],
  [['--demo-folder', 'README.md'], '--demo-folder must be a folder'],
  [['--no-demo', '--demo-folder', 'docs'], 'give one or the other'],
  [['--database-url', 'mysql://x/y'], '--database-url (DATABASE_URL) must be like postgresql://'],
])('rejects %s', (args, fault) => {
  expect(() => parseOptions(args, {})).toThrow(fault);
});

test('`npm start` rejects an unknown option at once, with one line and exit code 2', async () => {
  const failure = run(process.execPath, ['packages/local/start.mjs', '--nonsense']);
  await expect(failure).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^Unknown option '--nonsense'[^\n]*\n$/),
  });
});
