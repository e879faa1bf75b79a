import { groups } from '#text/groups';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { type Choice, SearchPicker } from '../../ui/search-picker.tsx';
import { type Group, toPath } from './api.ts';

const t = groups.members;
const SHOWN = 10;

interface AddMembersProps {
  readonly group: Group;
  onClose(): void;
}

export const AddMembers = ({ group, onClose }: AddMembersProps) => (
  <ActionDialog
    title={t.addTitle(group.name)}
    action={t.addSubmit}
    changes={['groups']}
    act={(form) =>
      unwrap(
        identity.POST('/api/v1/groups/{groupId}/members', {
          params: toPath(group),
          body: { members: form.getAll('members').map(String) },
        }),
      )
    }
    describe={({ changedCount }) => t.added(changedCount)}
    onClose={onClose}
  >
    <SearchPicker
      name="members"
      label={t.title}
      searchLabel={t.search}
      missing={t.missing}
      useChoices={useAccounts}
    />
  </ActionDialog>
);

/** The first people and service accounts whose name matches. */
function useAccounts(q: string): readonly Choice[] | undefined {
  const { data } = useQuery({
    queryKey: ['groups', 'accounts', q],
    async queryFn({ signal }): Promise<readonly Choice[]> {
      const params = { query: { limit: SHOWN, ...(q && { q }) } };
      const [people, accounts] = await Promise.all([
        unwrap(identity.GET('/api/v1/users', { params, signal })),
        unwrap(identity.GET('/api/v1/service-accounts', { params, signal })),
      ]);
      return [
        ...people.data.map(({ id, fullName, email }) => ({ id, name: fullName, detail: email })),
        ...accounts.data.map(({ id, name }) => ({ id, name, detail: t.kinds.service_account })),
      ];
    },
    placeholderData: keepPreviousData,
  });
  return data;
}
