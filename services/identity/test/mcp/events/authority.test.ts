import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@platform/testing';
import { ALLOW_RECEIVERS } from '../../destinations/receiver.js';
import { startWithApplication } from '../../oauth/connected-application.js';
import { noPolicy, policyPath } from '../../token-policy.js';
import { ALLOW_LOCAL, createMounts } from '../servers/platform.js';
import { startUpstream } from '../servers/upstream.js';
import { closeReceivers, createSubscriber, startEventReceiver } from './agent.js';
import { createCrawl, WITH_SERVICES } from './reported-facts.js';

/* EVT-18: what a credential may no longer see is not sent to it any more, from at most a second later on. */

const running = await startWithApplication({ ...ALLOW_RECEIVERS, ...WITH_SERVICES, ...ALLOW_LOCAL });
const { identity, session, clientId, connect } = running;
const { orgId } = identity;
const crawl = createCrawl(identity);
const mounts = createMounts(identity, session);
const upstream = await startUpstream();
const other = await identity.createOrganisation('boss@other.example');
afterEach(closeReceivers);
afterAll(async () => {
  await upstream.close();
  await running.close();
});

const COMPLETED = 'crawl.run.completed';

async function act(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await identity.call(method, `/api/v1${path}`, {
    token: session,
    ...(body && { body }),
  });
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
}
const createAdministrator = async () => {
  const person = await identity.createMember(session, 'admin');
  return {
    ...person,
    token: (await identity.createToken(person.session, { scopes: ['crawl:read'] })).accessToken,
  };
};

const allowAll = {
  clientKinds: ['application', 'document', 'registered'],
  hosts: [],
  additionalHosts: [],
  connectableBy: 'members',
  maxLifetimeDays: null,
};

interface Scene {
  readonly token: string;
  readonly event?: string;
  /** Takes away what the credential needs. */
  lose(): Promise<void>;
  /** Gives it back to the others. */
  restore?(): Promise<void>;
}

const scenes: Readonly<Record<string, () => Promise<Scene>>> = {
  'a token that was revoked': async () => {
    const { id, accessToken } = await identity.createToken(session, { scopes: ['crawl:read'] });
    return { token: accessToken, lose: () => act('DELETE', `/personal-access-tokens/${id}`) };
  },
  'a connection that was ended': async () => {
    const { token } = await connect({ scope: ['user:read', 'crawl:read'] });
    const { body } = await identity.call('GET', '/api/v1/connected-apps', { token: session });
    return { token, lose: () => act('DELETE', `/connected-apps/${body.data[0].id}`) };
  },
  'a connection of a kind that the policy no longer allows': async () => {
    const { token } = await connect({ scope: ['user:read', 'crawl:read'] });
    const put = (clientKinds: string[]) => act('PUT', '/organisation/connection-policy', { ...allowAll, clientKinds });
    return { token, lose: () => put(['document']), restore: () => put(allowAll.clientKinds) };
  },
  'a connection that lasts longer than the policy allows': async () => {
    await act('PUT', '/organisation/connection-policy', { ...allowAll, maxLifetimeDays: 30 });
    const { token } = await connect({ scope: ['user:read', 'crawl:read'] });
    // The access token would last for some minutes more.
    const lose = async () => void (await identity.db.query(
      `update oauth_grants set created_at = created_at - interval '31 days' where org_id = $1 and revoked_at is null`, [orgId],
    ));
    return { token, lose, restore: () => act('PUT', '/organisation/connection-policy', allowAll) };
  },
  'a token whose only server was removed': async () => {
    const server = await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { name: 'notes', connectors: ['wiki_1'] });
    const { accessToken: token } = await identity.createToken(session, { scopes: ['kb:read'], bounds: { servers: ['notes'] } });
    return { token, event: 'documents.changed', lose: () => act('DELETE', `/mcp-servers/${server}`) };
  },
  'an application that lost the scope': async () => {
    const { token } = await connect({ scope: ['user:read', 'crawl:read'] });
    return { token, lose: () => act('PATCH', `/oauth-applications/${clientId}`, { scopes: ['user:read'] }) };
  },
  'a member who was removed': async () => {
    const { id, token } = await createAdministrator();
    return { token, lose: () => act('DELETE', `/users/${id}`) };
  },
  'an administrator who was demoted': async () => {
    const { id, token } = await createAdministrator();
    return { token, lose: () => act('PATCH', `/users/${id}`, { role: 'member' }) };
  },
  'a scope that the policy denies': async () => {
    const { token } = await createAdministrator();
    const put = (deniedScopes: string[]) => act('PUT', policyPath.replace('/api/v1', ''), { ...noPolicy, deniedScopes });
    return { token, lose: () => put(['crawl:read']), restore: () => put([]) };
  },
  'a service account that was removed': async () => {
    const created = await identity.call('POST', '/api/v1/service-accounts', { token: session, body: { name: 'Watch', role: 'admin' } });
    const { id } = created.body.serviceAccount;
    const { body } = await identity.call('POST', `/api/v1/service-accounts/${id}/tokens`, { token: session, body: { name: 'a', scopes: ['crawl:read'] } });
    return { token: body.token.accessToken, lose: () => act('DELETE', `/service-accounts/${id}`) };
  },
  'a member who left the group': async () => {
    const member = await identity.createMember(session);
    const { body } = await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Readers' } });
    const { id } = body.group;
    await act('POST', `/groups/${id}/members`, { members: [member.id] });
    await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { connectors: ['wiki_1'], allowedGroups: [id] });
    const { accessToken: token } = await identity.createToken(member.session, { scopes: ['kb:read'] });
    return { token, event: 'documents.changed', lose: () => act('DELETE', `/groups/${id}/members/${member.id}`) };
  },
}; // oxfmt-ignore

/** Reports a fact of both organisations again and again, until it is stopped. */
function startFacts() {
  const stopping = new AbortController();
  const reporting = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.all([crawl.endRun(orgId, 'wiki_1'), crawl.endRun(other.orgId, 'wiki_1')]);
      await delay(20);
    }
  })();
  return async () => {
    stopping.abort();
    await reporting;
  };
}

test.each(Object.keys(scenes))('EVT-18 within a second, nothing is sent to the subscription of %s', async (name) => {
  const scene = await scenes[name]?.();
  if (!scene) throw new Error(name);
  const [receiver, control] = [await startEventReceiver(), await startEventReceiver()];
  const arrivals: number[] = [];
  receiver.answerWith(() => {
    arrivals.push(performance.now());
    return 204;
  });
  const { id } = await createSubscriber(identity, scene.token).follow(scene.event ?? COMPLETED, receiver.url, {
    args: {},
  });
  const { accessToken } = await identity.createToken(other.session, { scopes: ['crawl:read'] });
  await createSubscriber(identity, accessToken).follow(COMPLETED, control.url);
  const stop = startFacts();
  try {
    await waitFor(() => arrivals.length > 2, { what: 'the first events', patienceMs: 30_000 });
    await scene.lose();
    const lostAt = performance.now();
    const before = control.accepted.length;
    await waitFor(() => performance.now() - lostAt > 2_000 && control.accepted.length > before + 10, {
      what: 'the events of the others',
      patienceMs: 30_000,
    });
    expect(arrivals.filter((at) => at > lostAt + 1_000)).toEqual([]);
    const { rowCount } = await identity.db.query('select from fact_destinations where subscription_key = $1', [id]);
    expect(rowCount).toBe(0);
    const { rows } = await identity.db.query<{ reason: string }>(
      `select reason from audit_entries where org_id = $1 and action = 'event_subscription.ended' order by id desc limit 1`,
      [orgId],
    );
    expect(rows).toEqual([{ reason: 'unauthorized' }]);
  } finally {
    await stop();
    await scene.restore?.();
  }
}); // oxfmt-ignore

test('EVT-18 a request that waits for another attempt is not sent when the credential has ended meanwhile', async () => {
  const receiver = await startEventReceiver();
  const { id, accessToken } = await identity.createToken(session, { scopes: ['crawl:read'] });
  receiver.answerWith(() => 503);
  await createSubscriber(identity, accessToken).follow(COMPLETED, receiver.url);
  await crawl.endRun(orgId, 'wiki_1');
  await waitFor(() => receiver.refused().length > 0, { what: 'the first attempt' });
  receiver.answerWith(() => 204);
  await act('DELETE', `/personal-access-tokens/${id}`);
  const known = receiver.refused().length;
  identity.advance(60_000);
  await waitFor(
    async () =>
      (await identity.db.query(`select from fact_destinations where credential_id = $1`, [id])).rowCount ===
      0,
    { what: 'the end' },
  );
  expect([receiver.accepted, receiver.refused().length]).toEqual([[], known]);
});
