/** The only styles that react-aria injects: of its drag cursor and of its hidden focus guards. */
const INJECTED_STYLES = [
  'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=',
  'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg=',
];

/** What the console may load and do: its own files, requests to its own origin, nothing inline, no frame around it (UI-2). */
export const CONTENT_POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' ${INJECTED_STYLES.map((hash) => `'${hash}'`).join(' ')}`,
  `img-src 'self'`,
  `font-src 'self'`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  // The preview of a mail.
  `frame-src 'self'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  // The console's own policy, which lets nothing but an empty text through.
  `trusted-types default`,
].join('; ');

/**
 * What the frame may do in which the console shows a mail: have the styles that mails have, and nothing else. It runs no script,
 * asks for nothing, and only the console may frame it.
 */
export const FRAME_POLICY = [
  `default-src 'none'`,
  `style-src 'unsafe-inline'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'self'`,
].join('; ');
