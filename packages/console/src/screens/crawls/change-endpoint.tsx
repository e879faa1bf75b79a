import { endpoints as t } from '#text/endpoints';
import { crawl, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { DoneButton, SecretDialog } from '../../ui/secret-dialog.tsx';
import { Testing } from '../../ui/testing.tsx';
import { useAction } from '../../ui/use-action.ts';
import { type Endpoint, endpointsQuery } from './api.ts';

const PATH = '/api/v1/crawlingManager/endpoints/{endpointId}' as const;
const changes = endpointsQuery.queryKey;

interface EndpointDialogProps {
  readonly endpoint: Endpoint;
  readonly name: string;
  onClose(): void;
}

const toParams = ({ endpointId }: Endpoint) => ({ params: { path: { endpointId } } });

const ShownSecret = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <>
    <p className="warning">{t.shownWarning}</p>
    <Copyable value={secret} label={t.secret} />
    <DoneButton onPress={onClose} />
  </>
);

export const CreateEndpoint = ({ onClose }: { onClose: () => void }) => (
  <SecretDialog
    title={t.create}
    shownTitle={t.shownTitle}
    action={t.submit}
    changes={changes}
    act={(form) =>
      unwrap(
        crawl.POST('/api/v1/crawlingManager/endpoints', {
          body: { url: readText(form, 'url'), description: readText(form, 'description') },
        }),
      )
    }
    show={({ data }) => <ShownSecret secret={data.secret} onClose={onClose} />}
    onClose={onClose}
  >
    <TextInput name="url" type="url" label={t.url} hint={t.urlHint} isRequired autoFocus maxLength={2048} />
    <TextInput name="description" label={t.description} maxLength={500} />
  </SecretDialog>
);

export const RotateSecret = ({ endpoint, name, onClose }: EndpointDialogProps) => (
  <SecretDialog
    title={t.rotateTitle(name)}
    shownTitle={t.shownTitle}
    action={t.rotateSubmit}
    changes={changes}
    act={() => unwrap(crawl.POST(`${PATH}/rotate`, toParams(endpoint)))}
    show={({ data }) => <ShownSecret secret={data.secret} onClose={onClose} />}
    onClose={onClose}
  >
    <p>{t.rotateHint}</p>
  </SecretDialog>
);

export const RemoveEndpoint = ({ endpoint, name, onClose }: EndpointDialogProps) => (
  <ActionDialog
    title={t.removeTitle(name)}
    action={t.removeSubmit}
    isDangerous
    changes={changes}
    act={() => unwrap(crawl.DELETE(PATH, toParams(endpoint)))}
    describe={() => t.removed(name)}
    onClose={onClose}
  >
    <p>{t.removeHint}</p>
  </ActionDialog>
);

/** Stays open with the result, so that the endpoint can be mended and tested again. */
export function TestEndpoint({ endpoint, name, onClose }: EndpointDialogProps) {
  const test = useAction({
    mutationFn: () => unwrap(crawl.POST(`${PATH}/test`, { ...toParams(endpoint), ...readOnly })),
  });
  const result = test.data?.data;
  return (
    <FormDialog
      title={t.testTitle(name)}
      action={t.testSubmit}
      isPending={test.isPending}
      error={test.error}
      onClose={onClose}
      onSubmit={() => test.mutate()}
    >
      <p>{t.testHint}</p>
      <Testing isPending={test.isPending} />
      {result && !test.isPending && (
        <p role="status">
          <Badge tone={result.isOk ? 'good' : 'bad'}>{result.isOk ? t.works : t.fails}</Badge>{' '}
          {result.message}
        </p>
      )}
    </FormDialog>
  );
}
