import { access as t } from '#text/access';
import type { IdentitySchemas } from '@platform/clients/types';
import { useState } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { useSettled } from '../../ui/use-settled.ts';

type Decision = IdentitySchemas['schemas']['AccessDecision'];
type Kind = 'user' | 'service_account';

/** The scopes that tools of mounted servers need. */
const READ = 'kb:read';
const WRITE = 'semantic:write';

interface Subject {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** By scope. */
  readonly decisions: Readonly<Record<string, Decision>>;
}

interface WhoCanProps {
  readonly resource: { readonly type: 'server' | 'tool'; readonly id: string };
  /** The scopes that it needs: a server has tools of both. */
  readonly actions: readonly string[];
}

function describe({ decisions }: Subject): { readonly isPermitted: boolean; readonly reason: string } {
  const permitted = Object.keys(decisions).filter((name) => decisions[name]?.decision);
  if (permitted.length > 0) {
    const isOne = Object.keys(decisions).length === 1;
    const [reads, writes] = [permitted.includes(READ), permitted.includes(WRITE)];
    const both = reads && writes ? t.readsAndWrites : reads ? t.reads : t.writes;
    return { isPermitted: true, reason: isOne ? t.permitted : both };
  }
  // Where a server has no tool of a scope, the other one says more.
  const refused = Object.values(decisions);
  const said = refused.find(({ context }) => context.reason !== 'unknown_action') ?? refused[0];
  const reason = said?.context.reason;
  return {
    isPermitted: false,
    reason: (reason && reason !== 'permitted' && t.reasons[reason]) || (said?.context.message ?? ''),
  };
}

const columns: readonly DataColumn<Subject>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, detail }) => (
      <span className="stack">
        <span className="strong">{name}</span>
        <small>{detail}</small>
      </span>
    ),
  },
  {
    id: 'decision',
    label: t.columns.decision,
    render(subject) {
      const { isPermitted } = describe(subject);
      return <Badge tone={isPermitted ? 'good' : 'neutral'}>{isPermitted ? t.yes : t.no}</Badge>;
    },
  },
  {
    id: 'reason',
    label: t.columns.reason,
    isSecondary: true,
    render: (subject) => describe(subject).reason,
  },
];

const foldReason = (subject: Subject) => <span>{describe(subject).reason}</span>;

/** Who can use a mounted server or a tool, with the reason: the platform's own decisions. */
export function WhoCan({ resource, actions }: WhoCanProps) {
  const [typed, setTyped] = useState('');
  const [kind, setKind] = useState<Kind>('user');
  const q = useSettled(typed.trim());
  const list = useList({
    // Out of date whenever a server or its tools are.
    key: ['mcp-servers', 'access', resource.type, resource.id, actions.join(' '), kind, q],
    async load(cursor, signal) {
      const page = await loadAccounts(kind, { ...toPageQuery(cursor, PAGE_SIZE), ...(q && { q }) }, signal);
      return { ...page, items: await decide(page.items, { kind, resource, actions }, signal) };
    },
  });
  return (
    <>
      <search className="filters">
        <SearchInput label={t.search} value={typed} onChange={setTyped} />
        <ToggleButtonGroup
          aria-label={t.kinds.label}
          className="toggles"
          disallowEmptySelection
          selectedKeys={[kind]}
          onSelectionChange={(keys) => setKind(keys.has('user') ? 'user' : 'service_account')}
        >
          {(['user', 'service_account'] as const).map((one) => (
            <ToggleButton key={one} id={one}>
              {t.kinds[one]}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
      </search>
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        getId={({ id }) => id}
        folded={foldReason}
        empty={<Empty title={q === '' ? t.emptyTitle : t.noMatch} />}
      />
      <p className="hint">{t.hint}</p>
    </>
  );
}

/** Two decisions for each fit into one request of evaluations. */
const PAGE_SIZE = 50;

async function loadAccounts(
  kind: Kind,
  query: { limit: number; cursor?: string; q?: string },
  signal: AbortSignal,
) {
  const params = { query };
  if (kind === 'user') {
    const page = toListPage(await unwrap(identity.GET('/api/v1/users', { params, signal })));
    return {
      ...page,
      items: page.items.map(({ id, fullName, email }) => ({ id, name: fullName, detail: email })),
    };
  }
  const page = toListPage(await unwrap(identity.GET('/api/v1/service-accounts', { params, signal })));
  return {
    ...page,
    items: page.items.map(({ id, name, role }) => ({
      id,
      name,
      detail: text.roles[role as keyof typeof text.roles],
    })),
  };
}

async function decide(
  accounts: readonly Omit<Subject, 'decisions'>[],
  { kind, resource, actions }: WhoCanProps & { readonly kind: Kind },
  signal: AbortSignal,
): Promise<Subject[]> {
  if (accounts.length === 0) return [];
  const evaluations = accounts.flatMap(({ id }) =>
    actions.map((name) => ({ subject: { type: kind, id }, action: { name } })),
  );
  const answer = await unwrap(
    identity.POST('/access/v1/evaluations', { body: { resource, evaluations }, signal }),
  );
  const decisions = answer.evaluations ?? [];
  return accounts.map((account, index) => ({
    ...account,
    decisions: Object.fromEntries(
      actions.flatMap((name, nth) => {
        const decision = decisions[index * actions.length + nth];
        return decision ? [[name, decision]] : [];
      }),
    ),
  }));
}
