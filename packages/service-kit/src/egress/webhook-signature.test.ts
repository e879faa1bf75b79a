import { signatureHeaders } from './webhook-signature.js';

/** The example in the specification of Standard Webhooks. */
const example = {
  secret: Buffer.from('plJ3nmyCDGBKInavdOK15jsl', 'base64'),
  id: 'msg_loFOjxBNrRLzqYUf',
  at: 1_731_705_121_000,
  content: '{"event_type":"ping","data":{"success":true}}',
  signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
};

test('signs as Standard Webhooks specifies', () => {
  expect(signatureHeaders([example.secret], example)).toEqual({
    'webhook-id': example.id,
    'webhook-timestamp': '1731705121',
    'webhook-signature': example.signature,
  });
});

test('signs with every secret while one is being replaced', () => {
  const { 'webhook-signature': signatures } = signatureHeaders([Buffer.alloc(32), example.secret], example);
  expect(signatures?.split(' ')).toEqual([expect.stringMatching(/^v1,/), example.signature]);
});
