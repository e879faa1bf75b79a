import { connect } from '#text/connect';
import type { IdentitySchemas } from '@platform/clients/types';
import { describeClient } from '../agents/describe-client.ts';

const t = connect.attempts;

export type ConnectionAttempt = IdentitySchemas['schemas']['ConnectionAttempt'];
type Who = keyof typeof t.who;

const whoIsNext: Readonly<Record<keyof typeof t.steps, Who>> = {
  challenge: 'client',
  metadata: 'client',
  registration: 'client',
  authorize: 'client',
  consent: 'you',
  code: 'you',
  token: 'client',
  call: 'you',
};

const whoMends: Readonly<Record<string, Who>> = {
  invalid_client: 'administrator',
  unauthorized_client: 'administrator',
  invalid_redirect_uri: 'administrator',
  nothing_allowed: 'administrator',
  denied: 'you',
  temporarily_unavailable: 'platform',
};

/** Names the client of an attempt: by its name, by its host, or by what it says it is, unless that is the browser. */
export function nameAttempt({ name, client, userAgent }: ConnectionAttempt): string {
  if (name !== null) return name;
  if (client?.includes('.')) return client;
  const described = userAgent?.startsWith('Mozilla') ? undefined : describeClient(userAgent);
  return described ?? t.unnamed;
}

/** Says what an attempt is stuck at: whose turn it is, and what to do. */
export function describeAttempt(
  { stuckAt, fault }: ConnectionAttempt,
  canRegister: boolean,
): { readonly who: Who; readonly advice: string } | undefined {
  if (stuckAt === null) return undefined;
  if (fault === null) {
    const isUnregistered = stuckAt === 'authorize' && !canRegister;
    return {
      who: whoIsNext[stuckAt],
      advice: isUnregistered ? t.missing.authorizeUnregistered : t.missing[stuckAt],
    };
  }
  if (fault === 'invalid_redirect_uri' && stuckAt === 'registration')
    return { who: 'client', advice: t.faults.invalid_redirect_uri_registration };
  const words = t.faults[fault as keyof typeof t.faults];
  return {
    who: whoMends[fault] ?? 'client',
    advice: typeof words === 'string' ? words : t.faults.other(fault),
  };
}
