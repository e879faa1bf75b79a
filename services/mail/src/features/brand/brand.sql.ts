import type pg from 'pg';

export interface BrandRow {
  readonly name: string | null;
  readonly logo: Buffer | null;
  readonly accentColor: string | null;
  readonly footer: string | null;
  readonly replyTo: string | null;
  readonly language: string | null;
}

export async function findBrand(db: pg.Pool, orgId: string): Promise<BrandRow | undefined> {
  const { rows } = await db.query<BrandRow>(
    'select name, logo, accent_color "accentColor", footer, reply_to "replyTo", language from brands where org_id = $1',
    [orgId],
  );
  return rows[0];
}

export async function upsertBrand(db: pg.Pool, orgId: string, row: BrandRow, at: Date): Promise<void> {
  await db.query(
    `insert into brands (org_id, name, logo, accent_color, footer, reply_to, updated_at, language)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (org_id) do update set name = $2, logo = $3, accent_color = $4, footer = $5, reply_to = $6,
       updated_at = $7, language = $8`,
    [orgId, row.name, row.logo, row.accentColor, row.footer, row.replyTo, at, row.language],
  );
}
