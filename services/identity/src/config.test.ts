import { loadIdentityConfig } from './config.js';

const right = {
  DATABASE_URL: 'postgresql://user:password@host:5432/identity',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

/** Returns the lines that report what is wrong with the environment. */
function readFaults(env: NodeJS.ProcessEnv): string[] {
  try {
    loadIdentityConfig(env);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

test('reports all faults of the environment together, without values', () => {
  const secret = 'not-to-be-printed-0123456789';
  const faults = readFaults({
    DATABASE_URL: `mysql://${secret}`,
    ENCRYPTION_KEYS: `k1:${secret}`,
    SERVICE_CLIENTS: `mail:${secret}`,
    BOOTSTRAP_ADMIN_EMAIL: secret,
    BOOTSTRAP_ADMIN_PASSWORD: 'x'.repeat(257),
    MCP_SCOPES: `kb:read,${secret}`,
    PORT: '65536',
    LOG_LEVEL: secret,
    TRUST_PROXY: `10.0.0.0/8, ${secret}`,
    PUBLIC_URL: secret,
  });
  expect(faults[0]).toBe('The environment is not right:');
  expect(faults.slice(1).map((line) => /^ {2}- (\w+) must be /.exec(line)?.[1])).toEqual([
    'PORT', 'LOG_LEVEL', 'TRUST_PROXY', 'DATABASE_URL', 'ENCRYPTION_KEYS', 'PUBLIC_URL', 'MCP_SCOPES', 'SERVICE_CLIENTS', 'BOOTSTRAP_ADMIN_EMAIL', 'BOOTSTRAP_ADMIN_PASSWORD',
  ]); // oxfmt-ignore
  expect(faults.join('\n')).not.toContain(secret);
});

test.each(['pat:read', 'pat:write', 'user:write', 'config:read', 'SEND_MAIL', 'FETCH_CONFIG'])(
  'MCP_SCOPES cannot grant %s, which is granted only when named',
  (scope) => {
    expect(readFaults({ ...right, MCP_SCOPES: `kb:read,${scope}` })).toEqual([
      expect.any(String),
      expect.stringMatching(/MCP_SCOPES.+granted only when named/),
    ]);
  },
);

test('reports variables that contradict each other together', () => {
  const client = `mail:${'s'.repeat(32)}`;
  const contradicting = { BOOTSTRAP_ADMIN_EMAIL: 'a@b.example', SERVICE_CLIENTS: `${client},${client}` };
  expect(readFaults({ ...right, ...contradicting })).toEqual([
    'The environment is not right:',
    '  - BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both, or neither',
    '  - SERVICE_CLIENTS must name each id once',
  ]);
});
