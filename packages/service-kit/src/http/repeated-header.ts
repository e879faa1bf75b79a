/**
 * Returns whether a request has a header more than once. Node.js joins some repeated headers with commas and drops others.
 *
 * @param rawHeaders of `IncomingMessage`.
 * @param name in lower case.
 */
export function isHeaderRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
