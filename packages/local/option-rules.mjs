// The rules for values of options. Plain JavaScript without dependencies, like options.mjs.
import { statSync } from 'node:fs';
import { isIP } from 'node:net';

export const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
export const isPort = (value) => /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535;

/** Accepts an address or a CIDR range, but not a range of all addresses. */
export function isProxyRange(value) {
  const [address, bits, ...rest] = value.split('/');
  const family = isIP(address);
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1);
  return family !== 0 && rest.length === 0 && isRange && Number(bits ?? 1) <= (family === 4 ? 32 : 128);
}

export function isDatabaseUrl(value) {
  return (
    URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol) && new URL(value).hostname !== ''
  );
}
