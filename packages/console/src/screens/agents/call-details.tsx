import { agents } from '#text/agents';
import { Link } from '@tanstack/react-router';
import { CopyId } from '../../ui/copy.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type AgentCall, type AgentKind, getAgentPath } from './api.ts';
import { describeOutcome, describeRefusal } from './describe-refusal.ts';

const t = agents.calls;

interface CallDetailsProps {
  readonly call: AgentCall;
  readonly of: AgentKind;
  onClose(): void;
}

/** One call, with what finds it in the logs. */
export const CallDetails = ({ call, of, onClose }: CallDetailsProps) => (
  <ModalDialog title={t.details} onClose={onClose}>
    <Facts
      of={[
        [t.columns.tool, <code key="tool">{call.tool}</code>],
        [t.outcome, describeOutcome(call.outcome)],
        ...(call.reason === null ? [] : [[t.reason, describeRefusal(call.reason, call.lacks)] as const]),
        [t.at, <Time key="at" at={call.createdAt} as="exact" />],
        [t.requestId, <CopyId key="request" value={call.requestId} label={t.requestId} />],
        [t.address, call.address ?? t.unknown],
        [t.client, call.client ?? t.unknown],
        [t.duration, t.took(call.durationMs)],
        ...(of === 'service_account' && call.credential.kind === 'pat'
          ? [
              [
                t.token,
                <Link key="token" to={getAgentPath('token', call.credential.id)}>
                  {t.openToken}
                </Link>,
              ] as const,
            ]
          : []),
      ]}
    />
  </ModalDialog>
);
