import { allTokens as t } from '#text/all-tokens';
import { text } from '#text/shared';
import { token as tokenText } from '#text/token';
import { tokens } from '#text/tokens';
import type { IdentitySchemas } from '@platform/clients/types';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { RobotIcon } from '../../ui/icons.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { STATES } from '../tokens/api.ts';
import { createTokenColumns, foldToken, toTokenSort } from '../tokens/token-columns.tsx';

const RevokeToken = lazyPart(async () => (await import('../tokens/revoke-token.tsx')).RevokeToken);
const RevokeTokens = lazyPart(async () => (await import('../tokens/revoke-token.tsx')).RevokeTokens);

const ATTENTION = ['all', 'expiring', 'unused'] as const;
const EXPIRING_MS = 14 * 86_400_000;
const UNUSED_MS = 90 * 86_400_000;

/** Returns the filter of the active tokens that may need attention. */
function toAttention(attention: (typeof ATTENTION)[number]) {
  if (attention === 'expiring') return { expiresBefore: new Date(Date.now() + EXPIRING_MS).toISOString() };
  if (attention === 'unused') return { unusedSince: new Date(Date.now() - UNUSED_MS).toISOString() };
  return {};
}

type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];

const ownerColumn: DataColumn<OwnedToken> = {
  id: 'owner',
  isFreeText: true,
  isSecondary: true,
  label: t.owner,
  render: ({ ownerFullName, ownerEmail, ownerDeleted, isServiceAccount }) => (
    <span className="stack">
      <span className="connector" title={ownerEmail || t.serviceAccount}>
        {isServiceAccount && (
          <>
            <RobotIcon />
            <span className="unseen">{t.serviceAccount}</span>
          </>
        )}
        <span>{ownerFullName}</span>
      </span>
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

function createColumns(
  revoke: (token: OwnedToken) => void,
  isSortable: boolean,
): readonly DataColumn<OwnedToken>[] {
  const [name, ...rest] = createTokenColumns(revoke, { isSortable });
  // The owner takes the room of the last use.
  const others = rest.map((column) => ({ ...column, isWide: column.isWide || column.id === 'lastUsed' }));
  return [...(name ? [name] : []), ownerColumn, ...others];
}

export function Screen() {
  const [revoking, setRevoking] = useState<OwnedToken>();
  const [bulk, setBulk] = useState<readonly OwnedToken[]>();
  const { filters } = useFilters();
  const state = STATES.find((known) => known === filters['state']) ?? 'active';
  const q = filters['q']?.trim() ?? '';
  const sort = toTokenSort(filters['sort'], state);
  const attention = ATTENTION.find((known) => known === filters['attention']) ?? 'all';
  const list = useList({
    key: ['tokens', 'all', state, q, attention, sort],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), state, ...(q && { q }), ...toAttention(attention), ...sort };
      const page = await unwrap(
        identity.GET('/api/v1/personal-access-tokens/admin', { params: { query }, signal }),
      );
      return toListPage(page);
    },
  });
  const isFiltered = state !== 'active' || q !== '' || attention !== 'all';
  const isSortable = state === 'active';
  const columns = useMemo(() => createColumns(setRevoking, isSortable), [isSortable]);
  return (
    <ListPage
      title={text.screens.allTokens}
      intro={t.intro}
      filters={
        <>
          <SearchBox label={tokens.filterAll} />
          <FilterToggle
            label={tokens.columns.state}
            name="state"
            options={STATES.map((key) => [key, tokenText.states[key]])}
          />
          <SelectFilter
            label={tokens.attention.label}
            name="attention"
            options={ATTENTION.slice(1).map((key) => [key, tokens.attention[key]])}
          />
        </>
      }
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/tokens/${id}`}
      folded={foldOwned}
      {...(state === 'active' && { bulk: [{ label: tokens.revoke, run: setBulk }] })}
      empty={
        isFiltered ? (
          <NoMatch title={tokens.noMatch} />
        ) : (
          <Empty title={t.emptyTitle} action={<EmptyLink to="/account/tokens" label={tokens.createFirst} />}>
            {t.emptyAdvice}
          </Empty>
        )
      }
    >
      {bulk && <RevokeTokens tokens={bulk} onClose={() => setBulk(undefined)} />}
      {revoking && (
        <RevokeToken token={revoking} owner={revoking.ownerFullName} onClose={() => setRevoking(undefined)} />
      )}
    </ListPage>
  );
}
