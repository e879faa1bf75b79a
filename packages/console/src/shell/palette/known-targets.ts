import { palette as t } from '#text/palette';
import { text } from '#text/shared';
import { guides } from 'virtual:guides';
import { listViews, places } from '../../screens.ts';
import { BookIcon, PlusIcon } from '../../ui/icons.tsx';
import { matches, type Target, type TargetGroup } from './target.ts';

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

const help: readonly Target[] = [
  ...guides.map(({ id, title }) => ({
    id: `guide ${id}`,
    label: title,
    icon: BookIcon,
    to: `/guides/${id}`,
  })),
  { id: 'api', label: text.apiDocs, icon: BookIcon, to: '/docs', isOutside: true },
];

/** What else somebody may call a screen or an action. */
const alsoCalled = (id: string): string =>
  Object.hasOwn(t.words, id) ? t.words[id as keyof typeof t.words] : '';

const listScreens = (role: string): readonly Target[] =>
  places.flatMap((place) => {
    const views = listViews(place, role);
    return views.map(({ path, label }) => ({
      id: path,
      label: views.length > 1 && label !== place.label ? `${place.label}: ${label}` : label,
      icon: place.icon,
      to: path,
    }));
  });

/** The screens and actions that match, by their names or by other words for them. */
export function listKnown(query: string, role: string): readonly TargetGroup[] {
  const isMatch = ({ id, label }: Pick<Target, 'id' | 'label'>): boolean =>
    matches(query, label, alsoCalled(id));
  return [
    { id: 'screens', label: t.places, targets: listScreens(role).filter(isMatch) },
    {
      id: 'actions',
      label: t.actions,
      targets: actions
        .filter((action) => (role === 'admin' || !action.isForAdmins) && isMatch(action))
        .map((action) => ({ ...action, icon: PlusIcon })),
    },
    // Nobody looks through all of them.
    {
      id: 'help',
      label: t.help,
      targets: query === '' ? help.filter(({ isOutside }) => isOutside) : help.filter(isMatch),
    },
  ];
}
