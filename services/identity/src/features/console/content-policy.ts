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
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  // The console's own policy, which lets nothing but an empty text through.
  `trusted-types default`,
].join('; ');
