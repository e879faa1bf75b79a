import { palette as t } from '#text/palette';
import { text } from '#text/shared';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { identity, unwrap } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { listViews, places } from '../screens.ts';
import { connectorsQuery, type Schedule, schedulesQuery, toKey } from '../screens/crawls/api.ts';
import { getConnectorName } from '../ui/connector-name.ts';
import { getConnectorIcon } from '../ui/connector.tsx';
import { KeyIcon, PeopleIcon, PlusIcon, SearchIcon } from '../ui/icons.tsx';
import { ProblemNote } from '../ui/problem-note.tsx';
import { useBack } from '../ui/use-back.ts';
import { useSettled } from '../ui/use-settled.ts';

const MIN_LENGTH = 2;
const SHOWN = 6;

interface Target {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly icon: () => ReactNode;
  readonly to: string;
}

interface TargetGroup {
  readonly id: string;
  readonly label: string;
  readonly targets: readonly Target[];
}

const matches = (query: string, ...words: readonly string[]): boolean =>
  words.some((word) => word.toLowerCase().includes(query.toLowerCase()));

const actions: readonly (Omit<Target, 'icon'> & { readonly isForAdmins?: boolean })[] = [
  { id: 'new-token', label: t.newToken, to: '/account/tokens?do=new' },
  { id: 'invite', label: t.invite, to: '/organisation/members?do=new', isForAdmins: true },
  { id: 'new-group', label: t.newGroup, to: '/organisation/groups?do=new', isForAdmins: true },
  { id: 'schedule', label: t.schedule, to: '/crawls?do=new', isForAdmins: true },
  { id: 'new-account', label: t.newAccount, to: '/organisation/service-accounts?do=new', isForAdmins: true },
  {
    id: 'new-application',
    label: t.newApplication,
    to: '/organisation/applications?do=new',
    isForAdmins: true,
  },
  { id: 'new-endpoint', label: t.newEndpoint, to: '/crawls/endpoints?do=new', isForAdmins: true },
  { id: 'new-server', label: t.newServer, to: '/organisation/mcp-servers?do=new', isForAdmins: true },
  {
    id: 'new-destination',
    label: t.newDestination,
    to: '/activity/destinations?do=new',
    isForAdmins: true,
  },
  { id: 'suppress', label: t.suppress, to: '/mails/suppressions?do=new', isForAdmins: true },
];

function listScreens(role: string): readonly Target[] {
  return places.flatMap((place) => {
    const views = listViews(place, role);
    return views.map(({ path, label }) => ({
      id: path,
      label: views.length > 1 && label !== place.label ? `${place.label}: ${label}` : label,
      icon: place.icon,
      to: path,
    }));
  });
}

type OwnedToken = IdentitySchemas['schemas']['OwnedPersonalAccessToken'];

interface Found {
  readonly groups: readonly TargetGroup[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

/** Looks what is typed up in the lists of the platform. What was found for something else is not shown any more. */
function useFound(query: string): Found {
  const me = useMe();
  const isAdmin = me.role === 'admin';
  const q = useSettled(query);
  const isSettled = q === query;
  const isLongEnough = q.length >= MIN_LENGTH;
  const params = { query: { q, limit: SHOWN } };
  const tokens = useQuery({
    queryKey: ['jump', 'tokens', q],
    queryFn: async ({ signal }): Promise<readonly Pick<OwnedToken, 'id' | 'name'>[]> =>
      isAdmin
        ? (await unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params, signal }))).data
        : (await unwrap(identity.GET('/api/v1/personal-access-tokens', { params, signal }))).tokens,
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

function toTokenTarget(token: Pick<OwnedToken, 'id' | 'name'> & Partial<OwnedToken>, myId: string): Target {
  const isOwn = token.userId === undefined || token.userId === myId;
  return {
    id: token.id,
    label: token.name,
    ...(!isOwn && { detail: token.ownerFullName ?? '' }),
    icon: KeyIcon,
    to: isOwn
      ? `/account/tokens/${token.id}`
      : `/organisation/tokens?${new URLSearchParams({ q: token.name })}`,
  };
}

/** Leads to any screen, action, token, member or connector by a few letters of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { role } = useMe();
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const found = useFound(query.trim());
  useBack(onClose);
  const known = query.trim();
  // What is known at once stays in its place when the rest arrives.
  const groups: readonly TargetGroup[] = [
    {
      id: 'screens',
      label: t.places,
      targets: listScreens(role).filter(({ label }) => matches(known, label)),
    },
    {
      id: 'actions',
      label: t.actions,
      targets: actions
        .filter(({ isForAdmins, label }) => (role === 'admin' || !isForAdmins) && matches(known, label))
        .map((action) => ({ ...action, icon: PlusIcon })),
    },
    ...found.groups,
  ].filter(({ targets }) => targets.length > 0);
  return (
    <ModalOverlay
      className="overlay jump-overlay"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className="modal">
        <Dialog className="palette" aria-label={text.jump.label}>
          {/* What is shown is filtered already. */}
          <Autocomplete inputValue={query} onInputChange={setQuery} filter={() => true}>
            <SearchField aria-label={text.jump.label} autoFocus>
              <SearchIcon />
              <Input placeholder={t.placeholder} />
            </SearchField>
            <Menu
              aria-label={t.results}
              className="options"
              items={groups}
              renderEmptyState={() => <p className="nothing">{found.isLoading ? text.loading : t.nothing}</p>}
            >
              {(group) => (
                <MenuSection id={group.id}>
                  <Header>{group.label}</Header>
                  <Collection items={group.targets}>
                    {(target) => (
                      <MenuItem
                        id={target.id}
                        textValue={target.label}
                        onAction={() => {
                          onClose();
                          void navigate({ href: target.to });
                        }}
                      >
                        <target.icon />
                        <span>{target.label}</span>
                        {target.detail !== undefined && <small>{target.detail}</small>}
                      </MenuItem>
                    )}
                  </Collection>
                </MenuSection>
              )}
            </Menu>
            {found.error !== undefined && <ProblemNote error={found.error} />}
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
