import { agents as t } from '#text/agents';
import { token as tokenText } from '#text/token';
import { tokens } from '#text/tokens';
import { text } from '#text/shared';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { ScopeWords } from '../../ui/scope-words.tsx';
import { Time } from '../../ui/time.tsx';
import { describeBounds } from '../tokens/bounds.ts';
import { AgentCalls } from './agent-calls.tsx';
import { type Agent, getAgentPath } from './api.ts';
import { describeClient } from './describe-client.ts';
import { describeRefusal } from './describe-refusal.ts';
import { Mend } from './mend.tsx';

const CreateToken = lazyPart(async () => (await import('../tokens/create-token.tsx')).CreateToken);
const CreateAccountToken = lazyPart(
  async () => (await import('../service-accounts/change-tokens.tsx')).CreateAccountToken,
);

type Fact = readonly [name: string, value: ReactNode];

const tones: Readonly<Record<string, 'good' | 'bad' | 'neutral' | 'notice'>> = {
  active: 'good',
  expired: 'bad',
  revoked: 'neutral',
  inactive: 'notice',
};

const TokenLinks = ({ of }: { of: readonly NonNullable<Agent['parent']>[] }) => (
  <span className="stack">
    {of.map(({ id, name }) => (
      <Link key={id} to={getAgentPath('token', id)}>
        {name}
      </Link>
    ))}
  </span>
);

const toTokenFact = (name: string, found: readonly (Agent['parent'] | undefined)[]): Fact[] => {
  const related = found.filter((one) => one !== null && one !== undefined);
  return related.length === 0 ? [] : [[name, <TokenLinks key={name} of={related} />]];
};

function toUse({ lastUsedAt, lastAddress, lastClient }: Agent): ReactNode {
  if (lastUsedAt === null) return tokens.neverUsed;
  const client = describeClient(lastClient);
  return (
    <span className="stack">
      <Time at={lastUsedAt} />
      {lastAddress !== null && (
        <small>{[t.lastUseFrom(lastAddress), client].filter(Boolean).join(' · ')}</small>
      )}
    </span>
  );
}

/** What an agent is: whom it acts for, what it was granted, and when it was used. */
export const AgentFacts = ({ agent, more = [] }: { agent: Agent; more?: readonly Fact[] }) => (
  <Facts
    of={[
      [
        tokens.columns.state,
        <Badge key="state" tone={tones[agent.state] ?? 'notice'}>
          {t.states[agent.state as keyof typeof t.states] ?? agent.state}
        </Badge>,
      ],
      ...(agent.kind === 'service_account'
        ? []
        : [[t.actsFor, <ActsFor key="for" agent={agent} />] as const]),
      ...(agent.kind === 'service_account'
        ? []
        : [
            [
              tokens.columns.scopes,
              <ScopeWords key="scopes" scopes={agent.scopes} isOwn={agent.isOwn} />,
            ] as const,
            [tokenText.bounds, describeBounds(agent.bounds) || tokenText.noBounds] as const,
          ]),
      ...more,
      [tokenText.created, <Time key="created" at={agent.createdAt} as="day" />],
      ...(agent.kind === 'service_account'
        ? []
        : [
            [
              tokens.columns.expires,
              agent.expiresAt === null ? text.never : <Time key="expires" at={agent.expiresAt} as="full" />,
            ] as const,
          ]),
      ...(agent.firstCallAt === null
        ? []
        : [[t.firstCall, <Time key="first" at={agent.firstCallAt} as="full" />] as const]),
      [t.lastUse, toUse(agent)],
      ...toTokenFact(t.parent, [agent.parent]),
      ...toTokenFact(t.replacedBy, [agent.replacedBy]),
      ...toTokenFact(t.created, agent.created),
      [t.ids[agent.kind], <CopyId key="id" value={agent.id} label={t.ids[agent.kind]} />],
    ]}
  />
);

function ActsFor({ agent: { actsFor, isOwn } }: { agent: Agent }) {
  const { id, name, email, isServiceAccount } = actsFor;
  if (isOwn) return t.you(name);
  const path = isServiceAccount ? '/organisation/service-accounts' : '/organisation/members';
  return (
    <span className="stack">
      <Link to={`${path}/${id}`}>{name}</Link>
      {email !== null && <small>{email}</small>}
    </span>
  );
}

/** What an agent may call, what was refused to it and what mends that, and all that it called. */
export function AgentSections({ agent }: { agent: Agent }) {
  const [like, setLike] = useState<{ readonly scopes: readonly string[]; readonly keepsBounds: boolean }>();
  const { kind, id, actsFor, bounds, allowList, tools, refusals } = agent;
  const template = like && {
    name: agent.name,
    scopes: like.scopes,
    allowList,
    ...(like.keepsBounds && bounds && { bounds }),
  };
  const close = (): void => setLike(undefined);
  return (
    <>
      {refusals.length > 0 && (
        <Section title={t.refusals.title}>
          <ul className="settings">
            {refusals.map((refusal) => (
              <li key={[refusal.via, refusal.tool, refusal.reason, ...refusal.lacks].join(' ')}>
                <div>
                  <h3>
                    <code>{refusal.tool}</code>
                  </h3>
                  <p>
                    {`${describeRefusal(refusal.reason, refusal.lacks)} · ${t.refusals.times(refusal.count)} · `}
                    <Time at={refusal.lastAt} />
                  </p>
                </div>
                <Mend
                  agent={agent}
                  refusal={refusal}
                  onCreate={(scopes, keepsBounds) => setLike({ scopes, keepsBounds })}
                />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={t.may}>
        {tools.length === 0 ? (
          <p className="quiet-text">{t.noTools}</p>
        ) : (
          <ul className="tags" aria-label={t.tools}>
            {tools.map((name) => (
              <li key={name}>
                <Link to="/tools/$tool" params={{ tool: name }}>
                  <code>{name}</code>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <AgentCalls kind={kind} id={id} />
      {template && !actsFor.isServiceAccount && <CreateToken like={template} onClose={close} />}
      {template && actsFor.isServiceAccount && (
        <CreateAccountToken account={actsFor} like={template} onClose={close} />
      )}
    </>
  );
}
