/**
 * Returns whether a request target can be forwarded unchanged. The gateway chooses the service by the prefix that it
 * reads, and the URL parser of the HTTP client below it resolves dot segments, turns `\` into `/`, drops control
 * characters and cuts at `#`. A target that the two could read differently is therefore rejected, not repaired:
 * absolute form, empty segments, dot segments in any spelling, and characters that are not allowed in a target (RFC
 * 9112 §3.2.1, RFC 3986 §3.3).
 */
export function isForwardable(target: string): boolean {
  if (!/^\/[\x21-\x7e]*$/.test(target) || /[\\#]/.test(target)) return false;
  const path = target.split('?', 1)[0] as string;
  if (path.includes('//')) return false;
  return !path
    .split('/')
    .some((segment) => /^\.{1,2}$/.test(segment.replace(/%2e/gi, '.')) || hidesDots(segment));
}

/** Matches an encoded separator beside dots (`..%2f`, `%5c..`), which becomes a dot segment when decoded once. */
function hidesDots(segment: string): boolean {
  if (!/%(2f|5c)/i.test(segment)) return false;
  const parts = segment.replace(/%2e/gi, '.').split(/%2f|%5c/i);
  return parts.some((part) => part === '.' || part === '..');
}
