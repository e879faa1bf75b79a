import { createErrorReporter } from './error-reporter.js';

const createError = (message: string) => new Error(message);

test('logs an error at once, and again after a minute with the number of omitted errors', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const lines: unknown[] = [];
  const report = createErrorReporter(
    { warn: (detail: object) => void lines.push(detail) } as never,
    'Queue error',
  );
  for (let count = 0; count < 37; count += 1) report(createError('connect ECONNREFUSED'));
  report(createError('another'));
  clock.mockReturnValue(59_999);
  report(createError('connect ECONNREFUSED'));
  clock.mockReturnValue(60_000);
  report(createError('connect ECONNREFUSED'));
  clock.mockRestore();
  expect(lines).toMatchObject([
    { err: { message: 'connect ECONNREFUSED' }, omitted: 0 },
    { err: { message: 'another' }, omitted: 0 },
    { err: { message: 'connect ECONNREFUSED' }, omitted: 37 },
  ]);
});
