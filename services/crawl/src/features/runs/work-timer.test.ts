import { createWorkTimer } from './work-timer.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('the time for which it is paused does not count', () => {
  const onElapsed = jest.fn();
  const timer = createWorkTimer(1_000, onElapsed);
  jest.advanceTimersByTime(600);
  timer.pause();
  timer.pause();
  jest.advanceTimersByTime(60_000);
  timer.resume();
  timer.resume();
  jest.advanceTimersByTime(399);
  expect(onElapsed).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(onElapsed).toHaveBeenCalledTimes(1);
});

test('it never elapses after it was stopped', () => {
  const onElapsed = jest.fn();
  const timer = createWorkTimer(1_000, onElapsed);
  timer.stop();
  timer.resume();
  jest.advanceTimersByTime(5_000);
  expect(onElapsed).not.toHaveBeenCalled();
});
