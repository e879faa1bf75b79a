/** More than any cache remembers, so that each is met for the first time. */
const GARBAGE_COUNT = 20_000;

/** Bearers that aren't ours: opaque, half a JWT, and whole ones of another issuer's key. */
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

/** Ours but for the signature, each another: what costs an attacker least and us most. */
export function forgedBearers(valid: string): string[] {
  const [header, payload, signature = ''] = valid.split('.');
  return Array.from({ length: GARBAGE_COUNT }, (_value, index) => {
    const start = index.toString(36).padStart(6, 'A');
    return `${header}.${payload}.${start}${signature.slice(start.length)}`;
  });
}
