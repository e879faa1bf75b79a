import { identityProvider } from '#text/identity-provider';
import { members as t } from '#text/members';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone, Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import type { MemberDetails } from './api.ts';
import { Invitation } from './invitation.tsx';
import { RemovalEffects } from './removal-effects.tsx';
import { ReachedSources } from '../knowledge/reached-sources.tsx';
import { UsableTools } from './usable-tools.tsx';

const ChangeRole = lazyPart(async () => (await import('./change-role.tsx')).ChangeRole);
const DisconnectMember = lazyPart(async () => (await import('./disconnect-member.tsx')).DisconnectMember);
const EndMemberSessions = lazyPart(async () => (await import('./end-member-sessions.tsx')).EndMemberSessions);
const RemoveMember = lazyPart(async () => (await import('./remove-member.tsx')).RemoveMember);

type Dialog = 'role' | 'sessions' | 'disconnect' | 'remove';

/** One person: who they are, what acts for them and would stop with them, and what they can use. */
export function Screen() {
  const { memberId = '' }: { memberId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['members', 'one', memberId],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/users/{id}', { params: { path: { id: memberId } }, signal }))).user,
  });
  const member = query.data;
  const isInvited = member?.invitation !== null;
  return (
    <DetailPage
      query={query}
      title={member?.fullName ?? t.one}
      intro={member?.email}
      actions={
        member && (
          <Button onPress={() => setDialog('role')}>
            {member.role === 'admin' ? t.makeMember : t.makeAdmin}
          </Button>
        )
      }
    >
      <QueryView query={query}>
        {(found) => (
          <>
            <MemberFacts member={found} />
            {!isInvited && (
              <>
                <Section
                  title={t.page.stops}
                  actions={
                    <>
                      <Link to="/organisation/tokens" search={{ q: found.email }} className="button plain">
                        {t.page.tokens}
                      </Link>
                      <Link to="/activity/audit" search={{ actor: found.id }} className="button plain">
                        {t.page.audit}
                      </Link>
                    </>
                  }
                >
                  <RemovalEffects memberId={found.id} />
                </Section>
                <UsableTools memberId={found.id} />
                <ReachedSources memberId={found.id} />
              </>
            )}
          </>
        )}
      </QueryView>
      {member && (
        <DangerZone
          acts={[
            ...(isInvited
              ? []
              : [{ label: t.endSessions, hint: t.page.endSessions, run: () => setDialog('sessions') }]),
            ...(member.hasProviderIdentity === true
              ? [
                  {
                    label: identityProvider.member.action,
                    hint: t.page.disconnect,
                    run: () => setDialog('disconnect'),
                  },
                ]
              : []),
            {
              label: isInvited ? t.cancelInvitation : t.remove,
              hint: isInvited ? t.cancelWarning : t.removeWarning,
              run: () => setDialog('remove'),
            },
          ]}
        />
      )}
      {member && dialog === 'role' && <ChangeRole member={member} onClose={close} />}
      {member && dialog === 'sessions' && <EndMemberSessions member={member} onClose={close} />}
      {member && dialog === 'disconnect' && <DisconnectMember member={member} onClose={close} />}
      {member && dialog === 'remove' && (
        <RemoveMember
          member={member}
          onRemoved={() => void navigate({ to: '/organisation/members', ignoreBlocker: true })}
          onClose={close}
        />
      )}
    </DetailPage>
  );
}

const MemberFacts = ({ member }: { member: MemberDetails }) => (
  <Facts
    of={[
      [t.columns.state, <Invitation key="state" {...member} />],
      [t.columns.role, text.roles[member.role as keyof typeof text.roles]],
      [
        t.columns.secondFactor,
        member.secondFactors.length === 0
          ? t.noSecondFactor
          : member.secondFactors.map((kind) => t.secondFactors[kind]).join(', '),
      ],
      [
        t.page.groups,
        member.groups.length === 0 ? (
          text.none
        ) : (
          <span key="groups" className="words">
            {member.groups.map(({ id, name }) => (
              <Link key={id} to="/organisation/groups/$groupId" params={{ groupId: id }}>
                {name}
              </Link>
            ))}
          </span>
        ),
      ],
      [t.page.lastSeen, member.lastSeenAt === null ? text.never : <Time key="seen" at={member.lastSeenAt} />],
      [t.page.id, <CopyId key="id" value={member.id} label={t.page.id} />],
    ]}
  />
);
