import { randomUUID } from 'node:crypto';
import { type IdentityUnderTest, serviceClient } from '../../identity.js';

const mailClient = { id: 'mail', secret: 'a-secret-of-the-mail-service-0123456789' };

/** Creates the function that reports facts of a service. */
function createReport(identity: Pick<IdentityUnderTest, 'call'>, client: typeof serviceClient) {
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
  const getToken = async (): Promise<string> =>
    (
      await identity.call('POST', '/api/v1/oauth2/token', {
        raw: 'grant_type=client_credentials',
        headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      })
    ).body.access_token;
  return async (orgId: string, type: string, data: object): Promise<string> => {
    const id = randomUUID();
    const fact = { id, orgId, type, at: new Date().toISOString(), data };
    const { status, text } = await identity.call('POST', '/api/v1/internal/facts', {
      token: await getToken(),
      body: { facts: [fact] },
    });
    if (status !== 200) throw new Error(text);
    return id;
  };
}

/** Reports facts as mail does. */
export const createMailFacts = (identity: Pick<IdentityUnderTest, 'call'>) =>
  createReport(identity, mailClient);

/** Reports facts as crawl does. */
export function createCrawl(identity: Pick<IdentityUnderTest, 'call'>) {
  const report = createReport(identity, serviceClient);
  return {
    /** @returns the id of the fact that a run of the connector has ended. */
    endRun: (orgId: string, connector: string, { outcome = 'completed', ...fields }: RunFields = {}) =>
      report(orgId, `crawl.run.${outcome}`, {
        runId: randomUUID(),
        connector,
        instance: 'default',
        trigger: 'schedule',
        worker: 'pull',
        mode: 'incremental',
        scheduledFor: '2026-11-27T08:00:00.000Z',
        nextRunAt: null,
        startedAt: '2026-11-27T08:00:00.000Z',
        attempts: 1,
        counters: { items: 12, deleted: 1 },
        reason: null,
        ...fields,
      }),
    /** @returns the id of the fact that the crawls of the connector keep failing. */
    fail: (orgId: string, connector: string, failures: number) =>
      report(orgId, 'crawl.failing', { connector, instance: 'default', name: 'Handbook', failures, reason: 'x' }),
  };
} // oxfmt-ignore

interface RunFields {
  readonly outcome?: 'completed' | 'failed' | 'skipped';
  readonly instance?: string;
  readonly counters?: Record<string, number>;
}

/** The environment of an identity that has crawl and mail, so that it offers their tools. Neither is called. */
export const WITH_SERVICES = {
  CRAWL_URL: 'http://127.0.0.1:9',
  MAIL_URL: 'http://127.0.0.1:9',
  SERVICE_CLIENTS: [serviceClient, mailClient].map(({ id, secret }) => `${id}:${secret}`).join(','),
};
