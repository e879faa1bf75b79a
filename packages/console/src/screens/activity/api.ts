import type { IdentityPaths, IdentitySchemas } from '@platform/clients/types';
import { activity as t } from '#text/activity';
import { identity, unwrap } from '../../api/client.ts';

export type Fact = IdentitySchemas['schemas']['Fact'];
export type Names = Readonly<Record<string, IdentitySchemas['schemas']['AuditName']>>;
type Query = NonNullable<IdentityPaths['/api/v1/activity']['get']['parameters']['query']>;
export type Area = NonNullable<Query['about']>;

export interface NamedFact {
  readonly fact: Fact;
  readonly names: Names;
}

const labels: Readonly<Record<Area, string>> = t.areas;
export const areaOptions = Object.entries(labels) as [Area, string][];
export const isArea = (value: string | undefined): value is Area =>
  value !== undefined && Object.hasOwn(labels, value);

export async function loadActivity(query: Query, signal: AbortSignal) {
  const page = await unwrap(identity.GET('/api/v1/activity', { params: { query }, signal }));
  return {
    items: page.data.map((fact): NamedFact => ({ fact, names: page.names })),
    next: page.hasMore ? (page.nextCursor ?? undefined) : undefined,
  };
}
