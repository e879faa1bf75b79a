const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_SIDE = 4_096;

export interface PngSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a PNG (ISO/IEC 15948), and checks that it consists of whole chunks from `IHDR` to `IEND` with nothing
 * after them: no other content can be hidden behind the name of an image.
 *
 * @returns undefined for anything else.
 */
export function readPngSize(bytes: Buffer): PngSize | undefined {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined;
  let size: PngSize | undefined;
  for (let at = SIGNATURE.length; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 12 + length;
    if (end > bytes.length || (size === undefined) !== (type === 'IHDR')) return undefined;
    if (type === 'IHDR') {
      if (length !== 13) return undefined;
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (type === 'IEND') return end === bytes.length && isUsable(size) ? size : undefined;
    at = end;
  }
  return undefined;
}

const isUsable = (size: PngSize | undefined): boolean =>
  size !== undefined && [size.width, size.height].every((side) => side >= 1 && side <= MAX_SIDE);
