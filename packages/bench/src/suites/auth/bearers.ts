/** More than any cache holds, so that every bearer is a cache miss. */
const GARBAGE_COUNT = 20_000;

/** Creates bearers that the platform did not issue: opaque strings, truncated JWTs and JWTs with an unknown key. */
export function garbageBearers(): string[] {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signature = Buffer.alloc(64, 7).toString('base64url');
  return Array.from({ length: GARBAGE_COUNT }, (_value, index) => {
    const opaque = `pat_${Buffer.from(`garbage ${index}`).toString('base64url')}`;
    if (index % 4 === 0)
      return `pat_${encode({ alg: 'EdDSA', kid: `key-${index}` })}.${encode({ sub: 'x' })}.${signature}`;
    return index % 4 === 1 ? `${opaque}.e30` : opaque;
  });
}

/** Creates tokens with forged signatures: the attack that is cheapest to send and most expensive to refuse. */
export function forgedBearers(valid: string): string[] {
  const [header, payload, signature = ''] = valid.split('.');
  return Array.from({ length: GARBAGE_COUNT }, (_value, index) => {
    const start = index.toString(36).padStart(6, 'A');
    return `${header}.${payload}.${start}${signature.slice(start.length)}`;
  });
}
