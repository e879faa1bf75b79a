import { text } from '#text/shared';
import { token as tokenText } from '#text/token';
import { tokens as t } from '#text/tokens';
import { Badge, Tags } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Time } from '../../ui/time.tsx';
import type { TokenDetails } from './api.ts';

const SOON_MS = 14 * 86_400_000;

/** The properties of a token that the columns show. Lists of active tokens have no state. */
type ColumnToken = Pick<TokenDetails, 'name' | 'scopes' | 'expiresAt' | 'lastUsedAt'> &
  Partial<Pick<TokenDetails, 'state'>>;

/** Shows a token's state, and whether it expires soon. */
function TokenState({ expiresAt, state }: Pick<ColumnToken, 'expiresAt' | 'state'>) {
  if (state === 'revoked') return <Badge tone="neutral">{tokenText.states.revoked}</Badge>;
  const left = expiresAt === null ? Infinity : Date.parse(expiresAt) - Date.now();
  if (left <= 0) return <Badge tone="bad">{t.states.expired}</Badge>;
  if (left < SOON_MS) return <Badge tone="notice">{t.states.expiring}</Badge>;
  return <Badge tone="good">{t.states.active}</Badge>;
}

const LastUsed = ({ at }: { at: string | null }) => (at === null ? t.neverUsed : <Time at={at} />);

/** The details of a token that a phone shows below its name. */
export const foldToken = (token: ColumnToken) => (
  <>
    <TokenState {...token} />
    {token.expiresAt === null ? (
      t.neverExpires
    ) : (
      <span>
        {t.expiresOn} <Time at={token.expiresAt} as="day" />
      </span>
    )}
  </>
);

interface TokenColumnOptions<Item> {
  /** Only active tokens are in an index by name and by expiry. */
  readonly isSortable?: boolean;
  onEdit?(token: Item): void;
  onRotate?(token: Item): void;
}

const SORTS = ['name', 'expiry'] as const;

/** Returns the order that the address asks for; ended tokens have one only. */
export const toTokenSort = (sort: string | undefined, state: string) => {
  const found = state === 'active' ? SORTS.find((known) => known === sort) : undefined;
  return found && { sort: found };
};

export const createTokenColumns = <Item extends ColumnToken>(
  onRevoke: (token: Item) => void,
  { onEdit, onRotate, isSortable = false }: TokenColumnOptions<Item> = {},
): readonly DataColumn<Item>[] => [
  {
    id: 'name',
    label: t.columns.name,
    sort: isSortable ? 'name' : undefined,
    render: ({ name }) => <span className="strong">{name}</span>,
  },
  {
    id: 'scopes',
    label: t.columns.scopes,
    isFreeText: true,
    isWide: true,
    render: ({ scopes }) => <Tags values={scopes} />,
  },
  { id: 'state', label: t.columns.state, isSecondary: true, render: (token) => <TokenState {...token} /> },
  {
    id: 'lastUsed',
    label: t.columns.lastUsed,
    isSecondary: true,
    render: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />,
  },
  {
    id: 'expires',
    label: t.columns.expires,
    sort: isSortable ? 'expiry' : undefined,
    isSecondary: true,
    render: ({ expiresAt }) => (expiresAt === null ? text.never : <Time at={expiresAt} as="day" />),
  },
  createMenuColumn({
    getName: ({ name }) => name,
    listActions: (token) =>
      token.state !== undefined && token.state !== 'active'
        ? []
        : [
            ...(onEdit ? [{ label: tokenText.edit, run: () => onEdit(token) }] : []),
            ...(onRotate ? [{ label: tokenText.rotate, run: () => onRotate(token) }] : []),
            { label: t.revoke, isDangerous: true, run: () => onRevoke(token) },
          ],
  }),
];
