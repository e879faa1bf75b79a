import { groups as t } from '#text/groups';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Advanced, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { readText } from '../../ui/read-form.ts';
import { type Group, toPath, usesQuery } from './api.ts';

interface ChangeGroupProps {
  readonly group: Group;
  onClose(): void;
}

/** Leads to the page of the new group, where its members are added. */
export function CreateGroup({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <ActionDialog
      title={t.create}
      action={t.createSubmit}
      changes={['groups']}
      act={async (form) => {
        const { externalId, ...body } = readGroup(form);
        const created = await unwrap(
          identity.POST('/api/v1/groups', { body: { ...body, ...(externalId !== null && { externalId }) } }),
        );
        void navigate({ to: `/organisation/groups/${created.group.id}`, ignoreBlocker: true });
        return created;
      }}
      describe={({ group }) => t.created(group.name)}
      onClose={onClose}
    >
      <GroupFields />
    </ActionDialog>
  );
}

export const EditGroup = ({ group, onClose }: ChangeGroupProps) => (
  <ActionDialog
    title={t.editTitle(group.name)}
    action={text.save}
    changes={['groups']}
    act={(form) =>
      unwrap(identity.PATCH('/api/v1/groups/{groupId}', { params: toPath(group), body: readGroup(form) }))
    }
    describe={() => t.saved}
    onClose={onClose}
  >
    <GroupFields group={group} />
  </ActionDialog>
);

const readGroup = (form: FormData) => ({
  name: readText(form, 'name'),
  externalId: readText(form, 'externalId') || null,
});

const GroupFields = ({ group }: { group?: Group }) => (
  <>
    <TextInput
      name="name"
      label={t.name}
      isRequired
      autoFocus
      maxLength={200}
      defaultValue={group?.name ?? ''}
    />
    <Advanced label={t.advanced}>
      <TextInput
        name="externalId"
        label={t.externalId}
        hint={t.externalIdHint}
        maxLength={255}
        defaultValue={group?.externalId ?? ''}
      />
    </Advanced>
  </>
);

/** Asks once more, with what nobody can use any more afterwards; it cannot be sent before that is known. */
export function RemoveGroup({ group, onRemoved, onClose }: ChangeGroupProps & { onRemoved: () => void }) {
  const uses = useQuery(usesQuery(group.id));
  const closed = uses.data?.filter(({ isOnly }) => isOnly) ?? [];
  return (
    <ActionDialog
      title={t.removeTitle(group.name)}
      action={t.removeSubmit}
      isDangerous
      changes={['groups', 'list']}
      act={() =>
        unwrap(
          identity.DELETE('/api/v1/groups/{groupId}', {
            // What is closed is only what was shown here.
            params: { ...toPath(group), query: { force: closed.length > 0 } },
          }),
        )
      }
      describe={() => t.removed(group.name)}
      onClose={onClose}
      onDone={onRemoved}
    >
      <p>{t.removeWarning}</p>
      <QueryView query={uses}>
        {() =>
          closed.length > 0 && (
            <>
              <p>{t.removeCloses}</p>
              <ul className="plain-list">
                {closed.map(({ server, tool }) => (
                  <li key={tool ?? server}>
                    <code>{tool ?? server}</code>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </QueryView>
    </ActionDialog>
  );
}
