import { createAttemptTimer } from './attempt-timer.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const budgetsMs = { work: 1_000, unavailable: 500 };

test('the time for which the endpoint is unavailable does not count as work', () => {
  const onExhausted = jest.fn();
  const timer = createAttemptTimer(budgetsMs, onExhausted);
  jest.advanceTimersByTime(600);
  timer.spend('unavailable');
  timer.spend('unavailable');
  jest.advanceTimersByTime(499);
  timer.spend('work');
  timer.spend('work');
  jest.advanceTimersByTime(399);
  expect(onExhausted).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(onExhausted.mock.calls).toEqual([['work']]);
});

test('an endpoint that is repeatedly unavailable exhausts a budget within the sum of both', () => {
  const onExhausted = jest.fn();
  const timer = createAttemptTimer(budgetsMs, onExhausted);
  for (let time = 0; time < 4; time += 1) {
    jest.advanceTimersByTime(1);
    expect(timer.spend('unavailable')).toBe(500 - time * 125);
    jest.advanceTimersByTime(125);
    if (time < 3) timer.spend('work');
  }
  expect(onExhausted.mock.calls).toEqual([['unavailable']]);
});

test('no budget is exhausted once the timer is stopped', () => {
  const onExhausted = jest.fn();
  const timer = createAttemptTimer(budgetsMs, onExhausted);
  timer.stop();
  timer.spend('unavailable');
  jest.advanceTimersByTime(5_000);
  expect(onExhausted).not.toHaveBeenCalled();
});
