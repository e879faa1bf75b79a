import { type Clock, readEmailAddress, validationError } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Language } from '../../generated/templates.js';
import { type PngSize, readPngSize } from './png.js';
import { type BrandRow, findBrand, upsertBrand } from './brand.sql.js';
import { type BrandBody, MAX_LOGO_BYTES } from './schemas.js';

/** The look of an organisation's mails. Nothing of it is HTML. */
export interface Brand {
  readonly name?: string;
  readonly logo?: PngSize & { readonly png: Buffer };
  /** `#rrggbb`: of buttons. */
  readonly accentColor?: string;
  /** A line in the foot, such as a postal address. */
  readonly footer?: string;
  readonly replyTo?: string;
  /** The language of mails whose request names none. */
  readonly language?: Language;
}

/** How long the other replicas may use a brand after a change. */
const MAX_AGE_MS = 60_000;
const MAX_CACHED_BYTES = 16 * 1_048_576;

const toText = (value: string | null): string | undefined => value ?? undefined;

function toBrand({ name, logo, accentColor, footer, replyTo, language }: BrandRow): Brand {
  const size = logo && readPngSize(logo);
  const texts = {
    name: toText(name),
    accentColor: toText(accentColor),
    footer: toText(footer),
    replyTo: toText(replyTo),
    language: toText(language),
  };
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)) as Brand;
  return { ...given, ...(logo && size && { logo: { ...size, png: logo } }) };
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** @throws AppError 400 for a logo that is not a small PNG. */
function readBody({ name, logo, accentColor, footer, replyTo, language }: BrandBody): BrandRow {
  const png = logo !== undefined && base64.test(logo) ? Buffer.from(logo, 'base64') : undefined;
  if (logo !== undefined && (!png || png.length > MAX_LOGO_BYTES || !readPngSize(png)))
    throw validationError([
      { field: 'logo', message: 'must be a PNG of at most 64 KiB and 4,096 pixels a side, in base64' },
    ]);
  return {
    name: name?.trim() ?? null,
    logo: png ?? null,
    accentColor: accentColor?.toLowerCase() ?? null,
    footer: footer?.trim() ?? null,
    replyTo: replyTo === undefined ? null : (readEmailAddress(replyTo) ?? null),
    language: language ?? null,
  };
}

const toBody = ({ logo, ...texts }: Brand): BrandBody => ({
  ...texts,
  ...(logo && { logo: logo.png.toString('base64') }),
});

/** Keeps the brands of organisations, in memory as well: a mail costs no query. */
export function createBrands({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }) {
  const known = new LRUCache<string, { readonly brand: Brand; readonly readAt: number }>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ brand }) => 1_024 + (brand.logo?.png.length ?? 0),
  });

  /** The brands that are being read: a burst of mails reads one once. */
  const inProgress = new Map<string, Promise<Brand>>();

  function remember(orgId: string, row: BrandRow | undefined): Brand {
    const brand = row ? toBrand(row) : {};
    known.set(orgId, { brand, readAt: clock() });
    return brand;
  }

  return {
    /** Returns the brand, which is empty until an administrator sets it. */
    async get(orgId: string): Promise<Brand> {
      const present = known.get(orgId);
      if (present && clock() - present.readAt < MAX_AGE_MS) return present.brand;
      const reading =
        inProgress.get(orgId) ??
        findBrand(pool, orgId)
          .then((row) => remember(orgId, row))
          .finally(() => inProgress.delete(orgId));
      inProgress.set(orgId, reading);
      return reading;
    },

    /** Returns the brand as it is stored. */
    read: async (orgId: string): Promise<BrandBody> => toBody(remember(orgId, await findBrand(pool, orgId))),

    /** Replaces the whole brand. @throws AppError 400. */
    async save(orgId: string, body: BrandBody): Promise<BrandBody> {
      const row = readBody(body);
      await upsertBrand(pool, orgId, row, new Date(clock()));
      return toBody(remember(orgId, row));
    },
  };
}

export type Brands = ReturnType<typeof createBrands>;
