import type { AccessEntry } from '@platform/crawl-worker/documents';

/*
 * Who may find a document is a list of principals: `everyone`, `group:<id>` and `user:<e-mail address>`. Every query of the
 * index takes the principals of its reader, and returns documents that have one of them.
 */

export const EVERYONE = 'everyone';

/** Returns the principals of a document, each once. E-mail addresses are compared without regard to case. */
export const toPrincipals = (access: readonly AccessEntry[]): string[] => [
  ...new Set(
    access.map((entry) => (entry.kind === 'everyone' ? EVERYONE : toPrincipal(entry.kind, entry.id))),
  ),
];

const toPrincipal = (kind: 'group' | 'user', id: string): string =>
  `${kind}:${(kind === 'user' ? id.toLowerCase() : id).replaceAll('\0', '')}`;

/** Who calls, as the assertion says. */
export interface Person {
  readonly email: string | undefined;
  readonly groups: readonly string[];
}

/**
 * Returns the principals of a caller. Whether the address is verified makes no difference here: administrators of the one
 * organisation that is served enter addresses, and could put anybody into any group as well.
 */
export const toReader = ({ email, groups }: Person): readonly string[] => [
  EVERYONE,
  ...groups.map((group) => toPrincipal('group', group)),
  ...(email === undefined ? [] : [toPrincipal('user', email)]),
];
