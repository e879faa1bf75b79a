import { defaultClientName } from './client-name.js';

test.each([
  ['https://knowledge.example.com:8443/x', 'box', 'knowledge.example.com'],
  ['http://127.0.0.1:8080', 'mail-0.mail.platform.svc', 'mail-0.mail.platform.svc'],
  ['http://localhost:8080', 'mail-7d9f', '[127.0.0.1]'],
  ['http://127.0.0.1:8080', 'mail-7d9f', '[127.0.0.1]'],
  ['http://198.51.100.7', 'mail-7d9f', '[198.51.100.7]'],
  ['http://[2001:db8::1]:8080', 'mail-7d9f', '[IPv6:2001:db8::1]'],
])('the public URL %s on the machine %s gives the EHLO name %s', (publicUrl, machineName, expected) => {
  expect(defaultClientName(publicUrl, machineName)).toBe(expected);
});
