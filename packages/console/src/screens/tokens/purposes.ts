import type { tokens } from '#text/tokens';
import type { IdentitySchemas } from '@platform/clients/types';

export type ScopeGroup = IdentitySchemas['schemas']['GrantableScopes']['scopes'][number];
export type Purpose = keyof typeof tokens.purposes;

const SCHEDULER = ['crawl:read', 'crawl:write'];
const MAILER = ['SEND_MAIL'];

/** The scopes that a purpose needs and this person can grant. */
export function getScopesFor(purpose: Purpose, groups: readonly ScopeGroup[]): readonly string[] {
  const names = groups.flatMap(({ scopes }) => scopes.map(({ name }) => name));
  if (purpose === 'reader') return names.filter((name) => name.endsWith(':read') && name !== 'config:read');
  if (purpose === 'scheduler') return names.filter((name) => SCHEDULER.includes(name));
  if (purpose === 'mailer') return names.filter((name) => MAILER.includes(name));
  return [];
}

/** The purposes that this person can serve. */
export const listPurposes = (groups: readonly ScopeGroup[]): readonly Purpose[] =>
  (['reader', 'scheduler', 'mailer', 'other'] as const).filter(
    (purpose) => purpose === 'other' || getScopesFor(purpose, groups).length > 0,
  );
