import { loadMailConfig } from './config.js';

const env = {
  DATABASE_URL: 'postgresql://mail@db/mail',
  IDENTITY_URL: 'http://identity:3001',
  SERVICE_CLIENT_SECRET: 's'.repeat(32),
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

test('SENDS_PER_ORG_MAX must not exceed SENDS_MAX', () => {
  expect(loadMailConfig({ ...env, SENDS_MAX: '10', SENDS_PER_ORG_MAX: '10' })).toMatchObject({
    SENDS_MAX: 10,
  });
  expect(() => loadMailConfig({ ...env, SENDS_MAX: '10' })).toThrow(
    'SENDS_PER_ORG_MAX must not exceed SENDS_MAX',
  );
});

test('addresses are kept for 400 days, unless the operator keeps them for ever', () => {
  expect(loadMailConfig(env).RECORDS_KEPT_DAYS).toBe(400);
  expect(loadMailConfig({ ...env, RECORDS_KEPT_DAYS: '0' }).RECORDS_KEPT_DAYS).toBe(0);
});

test('CONFIG_MANAGER_URL defaults to IDENTITY_URL', () => {
  expect(loadMailConfig(env).CONFIG_MANAGER_URL).toBe(env.IDENTITY_URL);
  expect(loadMailConfig({ ...env, CONFIG_MANAGER_URL: 'http://manager' }).CONFIG_MANAGER_URL).toBe(
    'http://manager',
  );
});
