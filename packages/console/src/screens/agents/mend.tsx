import { agents } from '#text/agents';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../../api/me.ts';
import { useScopeWords } from '../../api/scopes.ts';
import { Button } from '../../ui/button.tsx';
import type { Agent, Refusal } from './api.ts';

const t = agents.mend;

interface MendProps {
  readonly agent: Agent;
  readonly refusal: Pick<Refusal, 'reason' | 'lacks'>;
  /** Opens the dialog that creates a token with these scopes, in the place of this one. */
  onCreate(scopes: readonly string[], keepsBounds: boolean): void;
}

const LinkTo = ({ to, children }: { to: string; children: ReactNode }) => (
  <Link to={to} className="button plain">
    {children}
  </Link>
);

const Words = ({ children }: { children: ReactNode }) => <small>{children}</small>;

/** What mends a refusal: the button that does it for whoever may, and words for everybody else. */
export function Mend({ agent, refusal: { reason, lacks }, onCreate }: MendProps) {
  const { role } = useMe();
  const { isIdle } = useScopeWords();
  const isAdmin = role === 'admin';
  const { kind, isOwn, actsFor, scopes } = agent;
  /** Tokens of a service account are created by administrators, others by whom they act for. */
  const canCreate = isOwn || (isAdmin && actsFor.isServiceAccount);
  const create = (label: string, wanted: readonly string[], keepsBounds: boolean) =>
    canCreate ? (
      <Button onPress={() => onCreate([...new Set([...scopes, ...wanted])], keepsBounds)}>{label}</Button>
    ) : (
      <Words>{t.askOwner(actsFor.name)}</Words>
    );
  const connectAgain = isOwn ? (
    <LinkTo to="/connect">{t.connectAgain}</LinkTo>
  ) : (
    <Words>{t.askOwner(actsFor.name)}</Words>
  );
  // A permission that does nothing in the hands of its owner mends nothing.
  const isOfRole = reason === 'scope' && isOwn && lacks.length > 0 && lacks.every(isIdle);
  switch (isOfRole ? 'role' : reason) {
    case 'scope':
      return kind === 'connection' ? connectAgain : create(t.give(lacks), lacks, true);
    case 'bounds':
      return kind === 'connection' ? connectAgain : create(t.widen, [], false);
    case 'expired':
      return kind === 'connection' ? connectAgain : create(t.renew, [], true);
    case 'role':
      if (!isAdmin) return <Words>{t.askAdmin}</Words>;
      return actsFor.isServiceAccount ? (
        <LinkTo to={`/organisation/service-accounts/${actsFor.id}`}>{t.openAccount(actsFor.name)}</LinkTo>
      ) : (
        <LinkTo to={`/organisation/members/${actsFor.id}`}>{t.openMember(actsFor.name)}</LinkTo>
      );
    case 'sign_in':
      return isOwn ? (
        <LinkTo to="/account/services">{t.services}</LinkTo>
      ) : (
        <Words>{t.askOwner(actsFor.name)}</Words>
      );
    case 'unknown_tool':
      return <LinkTo to="/tools">{t.tools}</LinkTo>;
    case 'inactive':
      return agent.state === 'active' ? (
        <Words>{t.addresses}</Words>
      ) : kind === 'connection' ? (
        connectAgain
      ) : (
        create(t.renew, [], true)
      );
    case 'rate_limit':
      return <Words>{t.wait}</Words>;
    case 'filter':
      return <Words>{t.narrowed}</Words>;
    case 'session':
    case 'member':
      return <Words>{t.person}</Words>;
    default:
      return null;
  }
}
