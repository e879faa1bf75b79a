import { allTokens as t } from '#text/all-tokens';
import { text } from '#text/shared';
import { token as tokenText } from '#text/token';
import { tokens } from '#text/tokens';
import type { IdentitySchemas } from '@platform/clients/types';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toPageQuery, useList } from '../../ui/use-list.ts';
import { createTokenColumns, foldToken } from '../tokens/token-columns.tsx';

const RevokeToken = lazyPart(async () => (await import('../tokens/revoke-token.tsx')).RevokeToken);

const STATES = ['active', 'expired', 'revoked'] as const;

type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];

const ownerColumn: DataColumn<OwnedToken> = {
  id: 'owner',
  isFreeText: true,
  isSecondary: true,
  label: t.owner,
  render: ({ ownerFullName, ownerEmail, ownerDeleted }) => (
    <span className="stack">
      {ownerFullName}
      <small>{ownerEmail}</small>
      {ownerDeleted && <Badge tone="notice">{t.ownerRemoved}</Badge>}
    </span>
  ),
};

const foldOwned = (token: OwnedToken) => (
  <>
    <span>{token.ownerFullName}</span>
    {foldToken(token)}
  </>
);

function createColumns(revoke: (token: OwnedToken) => void): readonly DataColumn<OwnedToken>[] {
  const [name, ...rest] = createTokenColumns(revoke);
  return [...(name ? [name] : []), ownerColumn, ...rest];
}

export function Screen() {
  const [revoking, setRevoking] = useState<OwnedToken>();
  const { filters } = useFilters();
  const state = STATES.find((known) => known === filters['state']) ?? 'active';
  const q = filters['q']?.trim() ?? '';
  const list = useList({
    key: ['tokens', 'all', state, q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), state, ...(q && { q }) };
      const page = await unwrap(
        identity.GET('/api/v1/personal-access-tokens/admin', { params: { query }, signal }),
      );
      return { items: page.data, next: page.nextCursor ?? undefined };
    },
  });
  const isFiltered = state !== 'active' || q !== '';
  const columns = useMemo(() => createColumns(setRevoking), []);
  return (
    <ListPage
      title={text.screens.allTokens}
      intro={t.intro}
      filters={
        <>
          <SearchBox label={tokens.filter} />
          <FilterToggle
            label={tokens.columns.state}
            name="state"
            options={STATES.map((key) => [key, tokenText.states[key]])}
          />
        </>
      }
      list={list}
      columns={columns}
      getId={({ id }) => id}
      folded={foldOwned}
      empty={
        isFiltered ? (
          <Empty title={tokens.noMatch}>{text.noMatchAdvice}</Empty>
        ) : (
          <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
        )
      }
    >
      {revoking && (
        <RevokeToken token={revoking} owner={revoking.ownerFullName} onClose={() => setRevoking(undefined)} />
      )}
    </ListPage>
  );
}
