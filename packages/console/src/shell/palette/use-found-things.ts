import { palette as t } from '#text/palette';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { connectorsQuery, type Schedule, schedulesQuery, toKey } from '../../screens/crawls/api.ts';
import { getConnectorName } from '../../ui/connector-name.ts';
import { getConnectorIcon } from '../../ui/connector.tsx';
import { KeyIcon, PeopleIcon } from '../../ui/icons.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { type Found, matches, type Target } from './target.ts';

const MIN_LENGTH = 2;
const SHOWN = 6;

type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];
type FoundToken = Pick<OwnedToken, 'id' | 'name' | 'state'> & Partial<OwnedToken>;

/** A token that was revoked is looked for as well: what it did is asked after its end. */
const tokenStates = ['active', 'revoked'] as const;

async function findTokens(
  isAdmin: boolean,
  query: { readonly q: string; readonly state: (typeof tokenStates)[number]; readonly limit: number },
  signal: AbortSignal,
): Promise<readonly FoundToken[]> {
  const options = { params: { query }, signal };
  return isAdmin
    ? (await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', options))).data
    : (await unwrap(identity.GET('/api/v1/personal-access-tokens', options))).tokens;
}

/** Looks what is typed up in the lists of the platform. What was found for something else is not shown any more. */
export function useFoundThings(query: string): Found {
  const me = useMe();
  const isAdmin = me.role === 'admin';
  const q = useSettled(query);
  const isSettled = q === query;
  const isLongEnough = q.length >= MIN_LENGTH;
  const params = { query: { q, limit: SHOWN } };
  const tokens = useQuery({
    queryKey: ['jump', 'tokens', q],
    queryFn: async ({ signal }) =>
      (
        await Promise.all(tokenStates.map((state) => findTokens(isAdmin, { q, state, limit: SHOWN }, signal)))
      ).flat(),
    enabled: isLongEnough,
  });
  const members = useQuery({
    queryKey: ['jump', 'members', q],
    queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/users', { params, signal }))).data,
    enabled: isLongEnough && isAdmin,
  });
  const enabled = isLongEnough && isAdmin;
  const connectors = useQuery({ ...connectorsQuery, enabled });
  const schedules = useQuery({ ...schedulesQuery, enabled });
  const reads = [tokens, members, connectors, schedules];
  const state = {
    isLoading: !isSettled || reads.some(({ isFetching }) => isFetching),
    error: reads.find(({ error }) => error !== null)?.error,
  };
  if (!isSettled || !isLongEnough) return { ...state, groups: [] };
  const groups = [
    {
      id: 'tokens',
      label: t.tokens,
      targets: (tokens.data ?? []).map((token) => toTokenTarget(token, me.id)),
    },
    {
      id: 'members',
      label: t.members,
      targets: (members.data ?? []).map(({ id, fullName, email }) => ({
        id,
        label: fullName,
        detail: email,
        icon: PeopleIcon,
        to: `/organisation/members?${new URLSearchParams({ q: email })}`,
      })),
    },
    {
      id: 'connectors',
      label: t.connectors,
      targets: listInstances(connectors.data ?? [], schedules.data ?? [])
        .filter(([key, name]) => matches(q, key, name))
        .slice(0, SHOWN)
        .map(([key, name]) => ({
          id: `connector ${key}`,
          label: name,
          detail: key,
          icon: getConnectorIcon(key),
          to: `/crawls/connectors/${key}`,
        })),
    },
  ];
  return { ...state, groups };
}

/** Returns the key and the name of each connector, and of each further instance that has a schedule. */
function listInstances(
  connectors: readonly { readonly connector: string }[],
  schedules: readonly Schedule[],
): readonly (readonly [key: string, name: string])[] {
  const names = new Map(connectors.map(({ connector }) => [connector, getConnectorName(connector)]));
  for (const schedule of schedules)
    names.set(toKey(schedule), getConnectorName(toKey(schedule), schedule.displayName));
  return [...names];
}

function toTokenTarget(token: FoundToken, myId: string): Target {
  const isOwn = token.userId === undefined || token.userId === myId;
  const isRevoked = token.state === 'revoked';
  const details = [...(isOwn ? [] : [token.ownerFullName ?? '']), ...(isRevoked ? [t.revoked] : [])];
  return {
    id: token.id,
    label: token.name,
    ...(details.length > 0 && { detail: details.join(' · ') }),
    icon: KeyIcon,
    to: `/${isOwn ? 'account' : 'organisation'}/tokens/${token.id}`,
  };
}
