import { AppError } from '@platform/service-kit';
import { createWithMetadata } from './rpc-errors.js';

test('an error that is thrown many times is extended and rendered once', () => {
  const withMetadata = createWithMetadata('http://a/meta');
  const headers = { 'www-authenticate': 'Bearer realm="a"' };
  const refusal = new AppError({ status: 401, code: 'NO', message: 'No', headers, isReused: true });
  const told = withMetadata(refusal);
  expect(told).toMatchObject({
    isReused: true,
    headers: {
      'www-authenticate':
        'Bearer realm="a", scope="user:read kb:read crawl:read", resource_metadata="http://a/meta"',
    },
  });
  expect(withMetadata(refusal)).toBe(told);
});
