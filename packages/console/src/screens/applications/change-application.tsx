import { applications as t } from '#text/applications';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { BulkDialog } from '../../ui/bulk-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { ApplicationFields, readApplication, readChangedBounds } from './application-fields.tsx';
import { type Application, type AuthMethod, getAccess } from './shape.ts';

interface ChangeProps {
  readonly application: Application;
  onClose(): void;
}

const getPath = ({ clientId }: Application) => ({ params: { path: { clientId } } });

export const EditApplication = ({ application, onClose }: ChangeProps) => (
  <ActionDialog
    title={t.editTitle(application.name)}
    action={text.save}
    isWide
    changes={['applications']}
    act={(form) =>
      unwrap(
        identity.PATCH('/api/v1/oauth-applications/{clientId}', {
          ...getPath(application),
          body: { ...readApplication(form), ...readChangedBounds(form, application.bounds) },
        }),
      )
    }
    describe={() => t.saved}
    onClose={onClose}
  >
    <TextInput name="name" label={t.name} defaultValue={application.name} isRequired maxLength={100} />
    <ApplicationFields
      access={getAccess(application)}
      authMethod={application.authMethod as AuthMethod}
      application={application}
    />
    <p className="hint">{t.editHint}</p>
  </ActionDialog>
);

const setDisabled = (application: Application, isDisabled: boolean) =>
  unwrap(
    identity.PATCH('/api/v1/oauth-applications/{clientId}', {
      ...getPath(application),
      body: { isDisabled },
    }),
  );

interface DisableApplicationsProps {
  readonly applications: readonly Application[];
  onClose(): void;
}

export const DisableApplications = ({ applications, onClose }: DisableApplicationsProps) => (
  <BulkDialog
    title={t.disableSeveral(applications.length)}
    action={t.disableSubmit}
    isDangerous
    items={applications}
    changes={['applications']}
    getName={({ name }) => name}
    act={(application) => setDisabled(application, true)}
    describe={t.disabledSeveral}
    onClose={onClose}
  >
    <p>{t.disableWarning}</p>
  </BulkDialog>
);

/** Disables an application, or enables it again. */
export function SwitchApplication({ application, onClose }: ChangeProps) {
  // What was asked stays, even if the application is read again meanwhile.
  const [{ name, isDisabled }] = useState(application);
  return (
    <ActionDialog
      title={isDisabled ? t.enableTitle(name) : t.disableTitle(name)}
      action={isDisabled ? t.enableSubmit : t.disableSubmit}
      isDangerous={!isDisabled}
      changes={['applications']}
      act={() => setDisabled(application, !isDisabled)}
      describe={() => (isDisabled ? t.enabled(name) : t.disabled(name))}
      onClose={onClose}
    >
      <p>{isDisabled ? t.enableHint : t.disableWarning}</p>
    </ActionDialog>
  );
}

export const RemoveApplication = ({
  application,
  onRemoved,
  onClose,
}: ChangeProps & { readonly onRemoved: () => void }) => (
  <ActionDialog
    title={t.removeTitle(application.name)}
    action={t.removeSubmit}
    isDangerous
    changes={['applications', 'list']}
    act={() => unwrap(identity.DELETE('/api/v1/oauth-applications/{clientId}', getPath(application)))}
    describe={() => t.removed(application.name)}
    onClose={onClose}
    onDone={onRemoved}
  >
    <p>{t.removeWarning}</p>
  </ActionDialog>
);
