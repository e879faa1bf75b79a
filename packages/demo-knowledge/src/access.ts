import type { AuthInfo } from '@modelcontextprotocol/server';
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

/**
 * Returns the principals of a caller. The assertion names neither groups nor an e-mail address, so documents that are not
 * for everyone are found by nobody.
 */
export const toReader = (_caller: AuthInfo): readonly string[] => [EVERYONE];
