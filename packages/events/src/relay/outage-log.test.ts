import { createOutageLog } from './outage-log.js';

const refused = new Error('retries exceeded', { cause: new Error('connect ECONNREFUSED 10.0.0.1:9092') });
const unknown = new Error('retries exceeded', { cause: new Error('getaddrinfo ENOTFOUND broker-1') });

test('EVT-38 each reason of an outage is logged once, in whatever order they come', () => {
  const log = createOutageLog();
  const logged = [refused, refused, unknown, refused, unknown].map((error) =>
    log.isWorthLogging('relay', error),
  );
  expect(logged).toEqual([true, false, true, false, false]);
});

test('EVT-38 a reason that lasts is logged again after the interval, and at once after the outage', () => {
  const log = createOutageLog(0);
  expect([log.isWorthLogging('relay', refused), log.isWorthLogging('relay', refused)]).toEqual([true, true]);
  const later = createOutageLog();
  expect(later.isWorthLogging('relay', refused)).toBe(true);
  later.end('relay');
  expect(later.isWorthLogging('relay', refused)).toBe(true);
});

test('EVT-38 messages that vary without end are not all logged', () => {
  const log = createOutageLog();
  const logged = Array.from({ length: 1_000 }, (_, number) =>
    log.isWorthLogging('relay', new Error(`request ${number} failed`)),
  );
  expect(logged.filter(Boolean)).toHaveLength(50);
});
