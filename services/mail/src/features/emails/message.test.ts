import { createMessageSource } from './message.js';

const isComposed = (attachments: number, bytes: number): boolean => {
  const letter = {
    templateType: 'loginWithOTP',
    subject: 'Your code',
    from: 'noreply@corp.example',
    to: ['to@example.com'],
    cc: [],
    html: '<p>1</p>',
    text: '1',
    isAutomatic: false,
    attachments: Array.from({ length: attachments }, () => ({
      filename: 'a.bin',
      contentType: 'application/octet-stream',
      content: Buffer.alloc(bytes),
    })),
  } as const;
  const source = createMessageSource(letter, '<1@corp.example>', new Date(0));
  return 'raw' in source(new AbortController().signal);
};

test.each([
  [0, 0, true],
  [2, 20_000, true],
  [1, 60_000, false],
  [10, 50_000, false],
])('%i attachments of %i bytes: composed beforehand and held: %s', (attachments, bytes, expected) => {
  expect(isComposed(attachments, bytes)).toBe(expected);
});
