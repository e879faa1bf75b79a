import { toRelyingParty } from './relying-party.js';

test.each([
  ['https://knowledge.example.com', 'knowledge.example.com', 'https://knowledge.example.com'],
  ['https://knowledge.example.com:8443', 'knowledge.example.com', 'https://knowledge.example.com:8443'],
  ['http://localhost:8080', 'localhost', 'http://localhost:8080'],
  ['http://127.0.0.1:8080', 'localhost', 'http://localhost:8080'],
  ['http://[::1]:8080', 'localhost', 'http://localhost:8080'],
  ['https://127.0.0.1', 'localhost', 'https://localhost'],
])('AUTH-52 passkeys of %s belong to its host name and origin', (publicUrl, id, origin) => {
  expect(toRelyingParty(publicUrl)).toEqual({ id, origin });
});

test.each(['http://knowledge.example.com', 'https://192.0.2.1', 'https://[2001:db8::1]'])(
  'AUTH-52 there are no passkeys at %s',
  (publicUrl) => {
    expect(toRelyingParty(publicUrl)).toBeUndefined();
  },
);
