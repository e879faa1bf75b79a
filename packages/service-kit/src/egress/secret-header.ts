/**
 * The headers that no secret is sent in: those of one connection (RFC 9110 §7.6), of the message itself, of browsers
 * (the forbidden request headers of the Fetch standard), and those that the platform sets. With some of them no request could
 * be sent; others are changed or dropped on the way, or change what is answered.
 */
// oxfmt-ignore
const DENIED = [
  'connection', 'keep-alive', 'proxy-.*', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via', 'http2-settings', 'alt-used',
  'accept', 'accept-.*', 'cache-control', 'content-.*', 'date', 'expect', 'host', 'if-.*', 'max-forwards', 'pragma', 'range',
  'access-control-.*', 'cookie', 'cookie2', 'dnt', 'origin', 'referer', 'sec-.*', 'set-cookie', 'set-cookie2',
  'idempotency-key', 'last-event-id', 'mcp-.*', 'traceparent', 'tracestate', 'user-agent', 'webhook-.*', 'x-request-id',
];

/** The names of the headers in which organisations let the platform send a secret, in small letters. */
export const SECRET_HEADER_PATTERN = `^(?!(?:${DENIED.join('|')})$)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`;
