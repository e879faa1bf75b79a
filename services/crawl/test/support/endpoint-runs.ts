import { waitFor } from '@platform/testing';
import { createCrawls, daily } from './crawls.js';
import { type Asked, type Endpoint, json, startEndpoint } from './endpoint.js';
import { type Backend, type Platform, startPlatform } from './platform.js';

export const toKeys = (asked: readonly Asked[]) =>
  new Set(asked.map(({ headers }) => headers['idempotency-key']));

/** Gives the tests of a `describe` a platform whose connector files_1 has an endpoint that each test can control. */
export function useEndpointRuns(backend: Backend, options: { readonly hasOwnIdentity?: boolean } = {}) {
  let platform: Platform;
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({ backend, env: { TASKS: `files_1=${endpoint.url}` }, ...options });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });
  beforeEach(() => {
    endpoint.asked.length = 0;
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
  });
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const item = async () => (await platform.call('GET', '/files_1/schedule')).body.data;
  const getPosts = () => endpoint.asked.filter(({ method }) => method === 'POST');
  const findCancellation = () => endpoint.asked.find(({ method }) => method === 'DELETE');
  return {
    get platform() {
      return platform;
    },
    get endpoint() {
      return endpoint;
    },
    crawls: createCrawls(() => platform),
    schedule: (body: object = {}) =>
      platform.call('POST', '/files_1/schedule', { body: { scheduleConfig: daily, maxRetries: 0, ...body } }),
    item,
    getPosts,
    isWaiting: () => waitFor(async () => (await item()).state === 'delayed', { what: 'a wait' }),
    waitForCancellation: () => waitFor(findCancellation, { what: 'the cancellation' }),
    /** Returns the time from the first request to the cancellation, in ms. */
    getAgeAtCancellation: () => (findCancellation()?.at ?? Infinity) - (getPosts()[0]?.at ?? 0),
  };
}
