import { DEFAULT_CONNECTION_POLICY, findConnectionBreaches } from './policy.js';

const now = Date.parse('2026-03-01T00:00:00Z');
const connection = {
  clientId: 'https://claude.ai/oauth/client.json',
  kind: 'document',
  role: 'member',
  createdAt: new Date('2026-02-01T00:00:00Z'),
};

test.each([
  [{}, {}, []],
  [{ clientKinds: ['application'] }, {}, ['client_kind']],
  [{ hosts: ['chatgpt.com'] }, {}, ['host']],
  [{ hosts: ['claude.ai'] }, {}, []],
  [{ hosts: ['claude.ai'] }, { clientId: 'https://claude.ai.evil.example/x' }, ['host']],
  [{ hosts: ['claude.ai'] }, { clientId: 'https://claude.ai:8443/x' }, []],
  [{}, { clientId: 'https://own.example/x' }, ['host']],
  [{ hosts: ['own.example'] }, { clientId: 'https://own.example/x' }, ['host']],
  [{ additionalHosts: ['own.example'] }, { clientId: 'https://own.example/x' }, []],
  [{ hosts: ['chatgpt.com'], additionalHosts: ['own.example'] }, {}, ['host']],
  [{ hosts: ['chatgpt.com'], additionalHosts: ['own.example'] }, { clientId: 'https://own.example/x' }, []],
  [{ hosts: ['claude.ai'] }, { kind: 'application', clientId: '019ab000-0000-7000-8000-000000000000' }, []],
  [{ connectableBy: 'administrators' }, {}, ['member']],
  [{ connectableBy: 'administrators' }, { role: 'admin' }, []],
  [{ maxLifetimeDays: 28 }, {}, ['lifetime']],
  [{ maxLifetimeDays: 29 }, {}, []],
])('a policy of %j finds in %j the breaches %j', (policy, fields, expected) => {
  const found = findConnectionBreaches(
    { ...DEFAULT_CONNECTION_POLICY, ...policy },
    { ...connection, ...fields },
    { now, clientHosts: ['claude.ai'] },
  );
  expect(found).toEqual(expected);
});
