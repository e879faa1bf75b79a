import { Agent } from 'undici';
import { createHttpTask } from '../../../src/engine/tasks/http-task.js';
import { EndpointUnavailable, type TaskOrder } from '../../../src/engine/tasks/task.js';
import { type Endpoint, followTask, json, startEndpoint } from '../../support/endpoint.js';

/* The outcome of an order, by the response of its endpoint. */

const ID = '01900000-0000-7000-8000-000000000000';
const order: TaskOrder = {
  runId: ID,
  attempt: 1,
  orgId: ID,
  connector: 'files_1',
  instance: 'default',
  displayName: null,
  userId: ID,
  scheduleConfig: {
    scheduleType: 'daily',
    hour: 2,
    minute: 15,
    isEnabled: true,
    timezone: 'UTC',
    jitterMs: 0,
    missedRunPolicy: 'run_once',
  },
  priority: 5,
  metadata: {},
  scheduledFor: '2026-11-22T02:15:00.000Z',
  mode: 'full',
};

describe('the task of an endpoint', () => {
  let endpoint: Endpoint;
  const dispatcher = new Agent();
  beforeAll(async () => {
    endpoint = await startEndpoint();
  });
  beforeEach(() => endpoint.reset());
  afterAll(async () => {
    await dispatcher.close();
    await endpoint.stop();
  });

  /** Gives the order to the endpoint. @returns its end, and what was reported meanwhile. */
  function give() {
    const reports: string[] = [];
    const task = createHttpTask(new URL(endpoint.url), {
      dispatcher,
      getSecrets: () => [Buffer.alloc(32)],
      clock: Date.now,
    });
    const done = task(order, {
      signal: new AbortController().signal,
      deadline: '2026-11-22T02:20:00.000Z',
      lease: 'lease',
      requestId: 'request-1',
      accepted: () => void reports.push('accepted'),
      ended: () => void reports.push('ended'),
      progress: (percent) => void reports.push(`${percent} %`),
      unavailable: () => {
        reports.push('unavailable');
        return 60_000;
      },
      available: () => void reports.push('available'),
    });
    return { done, reports };
  }

  it.each([
    ['names a location of another origin', 202, 'http://169.254.169.254/latest', {}, 'another origin'],
    ['redirects', 302, 'http://169.254.169.254/latest', {}, 'answered 302'],
    ['reports an unknown state', 202, '/t', { state: 'perhaps' }, 'did not say whether'],
    [
      'reports a failure with its reason',
      202,
      '/t',
      { state: 'failed', reason: 'The source is locked' },
      'The source is locked',
    ],
  ])('fails when the endpoint %s', async (_what, status, location, report, reason) => {
    endpoint.answer = ({ method }, response) => {
      const headers = { location, 'retry-after': '0' };
      if (method === 'POST') json(response, status, {}, headers);
      else json(response, 200, report, headers);
    };
    await expect(give().done).rejects.toThrow(reason);
  });

  it('fails when the response never ends, which is cut off', async () => {
    endpoint.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const talk = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        if (!response.destroyed) response.once('drain', talk);
      };
      talk();
    };
    await expect(give().done).rejects.toThrow('more than 65536 bytes');
  });

  it.each([
    ['in seconds', 503, () => '2', 2_000],
    ['as a date', 429, () => new Date(Date.now() + 30_000).toUTCString(), 30_000],
  ])('waits for as long as Retry-After says, %s', async (_how, status, retryAfter, waitMs) => {
    endpoint.answer = (_asked, response) => json(response, status, {}, { 'retry-after': retryAfter() });
    const error = await give().done.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EndpointUnavailable);
    const { message, retryAfterMs = NaN } = error as EndpointUnavailable;
    expect(message).toBe(`The endpoint answered ${status}`);
    // A date has whole seconds.
    expect(Math.abs(retryAfterMs - waitMs)).toBeLessThan(2_000);
  });

  it('goes on when its endpoint was unavailable for more polls than may be invalid', async () => {
    let polls = 0;
    endpoint.answer = (asked, response) => {
      if (asked.method === 'GET') polls += 1;
      if (polls === 2) response.destroy();
      else if (polls > 2 && polls < 9) json(response, 503, {}, { 'retry-after': '0' });
      else followTask(() => ({ state: polls < 9 ? 'running' : 'completed', progress: 50 }))(asked, response);
    };
    const { done, reports } = give();
    await done;
    expect(reports).toEqual(['accepted', '50 %', 'unavailable', 'available', '50 %', 'ended']);
    const methods = endpoint.asked.map(({ method }) => method);
    expect(methods).toEqual(['POST', ...Array<string>(9).fill('GET')]);
  });
});
