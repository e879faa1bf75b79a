import type { IdentitySchemas } from '@platform/clients/types';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useList } from '../../ui/use-list.ts';
import { useFilters } from '../../ui/use-filters.ts';
import { createTokenColumns } from './token-columns.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';

const CreateToken = lazyPart(async () => (await import('./create-token.tsx')).CreateToken);
const RevokeToken = lazyPart(async () => (await import('./revoke-token.tsx')).RevokeToken);

export type Token = IdentitySchemas['schemas']['ListedPersonalAccessToken'];

const t = text.tokens;

const PAGE_SIZE = 50;
const STATES = ['active', 'expired', 'revoked'] as const;

export function Screen() {
  const { filters } = useFilters();
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  const state = STATES.find((known) => known === filters['state']) ?? 'active';
  const q = filters['q']?.trim() ?? '';
  const { more, ...query } = useList({
    key: ['tokens', 'own', state, q],
    async load(cursor, signal) {
      const search = { limit: PAGE_SIZE, state, ...(q && { q }), ...(cursor !== undefined && { cursor }) };
      const page = await unwrap(
        identity.GET('/api/v1/personal-access-tokens', { params: { query: search }, signal }),
      );
      return { items: page.tokens, next: page.nextCursor ?? undefined };
    },
  });
  const isFiltered = state !== 'active' || q !== '';
  const create = (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} intro={t.intro} actions={create}>
      <FilterBar>
        <SearchBox label={t.filter} />
        <FilterToggle
          label={t.columns.state}
          name="state"
          options={STATES.map((key) => [key, text.token.states[key]])}
        />
      </FilterBar>
      <QueryView query={query}>
        {(tokens) => (
          <DataTable
            label={t.title}
            columns={createTokenColumns<Token>(setRevoking)}
            items={tokens}
            more={more}
            getId={({ id }) => id}
            getHref={({ id }) => `/account/tokens/${id}`}
            empty={
              isFiltered ? (
                <Empty title={t.noMatch}>{text.noMatchAdvice}</Empty>
              ) : (
                <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
              )
            }
          />
        )}
      </QueryView>
      {isCreating && <CreateToken onClose={() => setCreating(false)} />}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}
