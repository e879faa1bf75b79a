import { serviceAccounts } from '#text/service-accounts';
import { token as tokenText } from '#text/token';
import { tokens } from '#text/tokens';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListView, Total } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { createTokenColumns, foldToken, toTokenSort } from '../tokens/token-columns.tsx';
import { STATES, type TokenDetails } from '../tokens/api.ts';
import type { ServiceAccount } from './api.ts';

const CreateAccountToken = lazyPart(async () => (await import('./change-tokens.tsx')).CreateAccountToken);
const EditToken = lazyPart(async () => (await import('../tokens/edit-token.tsx')).EditToken);
const RevokeToken = lazyPart(async () => (await import('../tokens/revoke-token.tsx')).RevokeToken);
const RotateToken = lazyPart(async () => (await import('../tokens/rotate-token.tsx')).RotateToken);

const t = serviceAccounts.tokens;

type Dialog = 'create' | { readonly action: 'edit' | 'rotate' | 'revoke'; readonly token: TokenDetails };

const foldOwn = (token: TokenDetails) => foldToken(token);

/** The tokens that act as a service account. */
export function AccountTokens({ account }: { account: ServiceAccount }) {
  const { id: owner } = account;
  const { filters } = useFilters();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const state = STATES.find((known) => known === filters['state']) ?? 'active';
  const q = filters['q']?.trim() ?? '';
  const sort = toTokenSort(filters['sort'], state);
  const isSortable = state === 'active';
  const columns = useMemo(
    () =>
      createTokenColumns<TokenDetails>((token) => setDialog({ action: 'revoke', token }), {
        isSortable,
        onEdit: (token) => setDialog({ action: 'edit', token }),
        onRotate: (token) => setDialog({ action: 'rotate', token }),
      }),
    [isSortable],
  );
  const list = useList({
    key: ['tokens', 'of-account', owner, state, q, sort],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), owner, state, ...(q && { q }), ...sort };
      return toListPage(
        await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params: { query }, signal })),
      );
    },
  });
  return (
    <Section title={t.title} actions={<Button onPress={() => setDialog('create')}>{t.create}</Button>}>
      <FilterBar>
        <SearchBox label={tokens.filter} />
        <FilterToggle
          label={tokens.columns.state}
          name="state"
          options={STATES.map((key) => [key, tokenText.states[key]])}
        />
        <Total of={list.total} />
      </FilterBar>
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        getId={({ id }) => id}
        getHref={({ id }) => `/organisation/tokens/${id}`}
        folded={foldOwn}
        empty={
          state !== 'active' || q !== '' ? (
            <NoMatch title={tokens.noMatch} />
          ) : (
            <Empty
              title={t.emptyTitle}
              action={<Button onPress={() => setDialog('create')}>{t.createFirst}</Button>}
            >
              {t.emptyAdvice}
            </Empty>
          )
        }
      />
      {dialog === 'create' && <CreateAccountToken account={account} onClose={close} />}
      {typeof dialog === 'object' && dialog.action === 'edit' && (
        <EditToken token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'rotate' && (
        <RotateToken token={dialog.token} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.action === 'revoke' && (
        <RevokeToken token={dialog.token} owner={account.name} onClose={close} />
      )}
    </Section>
  );
}
