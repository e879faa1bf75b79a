import { text } from '#text/shared';
import { token as tokenText } from '#text/token';
import { tokens as t } from '#text/tokens';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ConnectLink, DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { STATES, type TokenDetails } from './api.ts';
import { createTokenColumns, foldToken, toTokenSort } from './token-columns.tsx';

const CreateToken = lazyPart(async () => (await import('./create-token.tsx')).CreateToken);
const RevokeToken = lazyPart(async () => (await import('./revoke-token.tsx')).RevokeToken);
const RevokeTokens = lazyPart(async () => (await import('./revoke-token.tsx')).RevokeTokens);

const foldOwn = (token: TokenDetails) => foldToken(token);

export function Screen() {
  const { filters } = useFilters();
  const [revoking, setRevoking] = useState<TokenDetails>();
  const [bulk, setBulk] = useState<readonly TokenDetails[]>();
  const state = STATES.find((known) => known === filters['state']) ?? 'active';
  const isSortable = state === 'active';
  const columns = useMemo(() => createTokenColumns<TokenDetails>(setRevoking, { isSortable }), [isSortable]);
  const sort = toTokenSort(filters['sort'], state);
  const q = filters['q']?.trim() ?? '';
  const list = useList({
    key: ['tokens', 'own', state, q, sort],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), state, ...(q && { q }), ...sort };
      const page = await unwrap(
        identity.GET('/api/v1/personal-access-tokens', { params: { query }, signal }),
      );
      return toListPage({ ...page, data: page.tokens });
    },
  });
  const isFiltered = state !== 'active' || q !== '';
  return (
    <ListPage
      title={text.screens.tokens}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateToken} />}
      filters={
        <>
          <SearchBox label={t.filter} />
          <FilterToggle
            label={t.columns.state}
            name="state"
            options={STATES.map((key) => [key, tokenText.states[key]])}
          />
        </>
      }
      list={list}
      columns={columns}
      getId={({ id }) => id}
      folded={foldOwn}
      {...(state === 'active' && { bulk: [{ label: t.revoke, run: setBulk }] })}
      getHref={({ id }) => `/account/tokens/${id}`}
      empty={
        isFiltered ? (
          <NoMatch title={t.noMatch} />
        ) : (
          <Empty
            title={t.emptyTitle}
            action={
              <>
                <EmptyButton label={t.createFirst} />
                <ConnectLink />
              </>
            }
          >
            {t.emptyAdvice}
          </Empty>
        )
      }
    >
      {bulk && <RevokeTokens tokens={bulk} onClose={() => setBulk(undefined)} />}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </ListPage>
  );
}
