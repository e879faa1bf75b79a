import { createLogger, scrub } from './logging.js';

const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let lines = '';
  write(createLogger('test', 'trace', { write: (line) => (lines += line) }));
  return lines;
}

test('removes a credential from any text, with and without its prefix, and keeps the rest', () => {
  expect(scrub(`a pat_${JWT} b ${JWT}, c`)).toBe('a [credential] b [credential], c');
  expect(scrub('nothing to hide: eyJ')).toBe('nothing to hide: eyJ');
});

// oxfmt-ignore
test.each(['password', 'newPassword', 'clientSecret', 'token', 'accessToken', 'access_token', 'tokens', 'tokenHash', 'authorization', 'Authorization', 'cookie', 'set-cookie', 'privateKey', 'otp', 'smtpPassword'])(
  'redacts the key %s at any depth', (key) => {
    const line = logged((log) => {
      log.info({ [key]: 'hidden', list: [{ inner: { [key]: ['hidden'] } }], kept: 'shown' });
    });
    expect(line).not.toContain('hidden');
    expect(line).toContain('shown');
  },
);

test('removes credentials from the message and stack of errors, and all other properties but the code', () => {
  const error = Object.assign(new Error(`bad ${JWT}`), {
    code: 'E1',
    detail: 'row (hidden)',
    query: 'hidden',
  });
  const line = logged((log) => {
    log.error({ err: error }, 'failed');
  });
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    err: { message: 'bad [credential]', code: 'E1' },
  });
  expect(line).not.toContain('hidden');
  expect(line).not.toContain(JWT);
});

// oxfmt-ignore
test('logs a request without its headers, its query and credentials in its path', () => {
  const line = logged((log) => {
    log.info({ req: { method: 'GET', url: `/a/pat_${JWT}?token=hidden`, headers: { authorization: 'hidden' } } });
  });
  expect(JSON.parse(line).req).toEqual({ method: 'GET', path: '/a/[credential]' });
  expect(line).not.toContain('hidden');
});

test('truncates circular values', () => {
  const circular: Record<string, unknown> = { name: 'shown' };
  circular.self = circular;
  // oxfmt-ignore
  expect(logged((log) => {
    log.info({ circular });
  })).toContain('[deep]');
});
