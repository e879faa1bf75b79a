import type { Answer } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { type IdentityUnderTest, type Member, startIdentity } from '../../identity.js';

type Client = Pick<IdentityUnderTest, 'call'>;

/** An authenticator app on the phone of a member, whose clock goes with that of the service. */
export interface Authenticator {
  /** Returns the code of the current time step. */
  code(): string;
  /** Returns a code that no code was accepted after: 30 seconds pass for it. */
  nextCode(): string;
}

const toTotp = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) });

/** Makes apps, and moves the clock of the service for them. */
export function createPhone(identity: Pick<IdentityUnderTest, 'advance'>) {
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const advance = (milliseconds: number) => {
    offsetMs += milliseconds;
    identity.advance(milliseconds);
  };
  return {
    advance,
    install(secret: string): Authenticator {
      const code = () => toTotp(secret).generate({ timestamp: now() });
      return {
        code,
        nextCode() {
          advance(30_000);
          return code();
        },
      };
    },
  };
}
export type Phone = ReturnType<typeof createPhone>;

/** Starts identity, with the session of an administrator and apps whose clock goes with that of the service. */
export async function startWithPhone() {
  const identity = await startIdentity();
  return { identity, session: await identity.login(), phone: createPhone(identity) };
}

const OWN = '/api/v1/auth/second-factor';

export const readState = async ({ call }: Client, token: string) =>
  (await call('GET', OWN, { token })).body.secondFactor;

/** Asks for the own account. @returns the status of the answer: 401 without a session. */
export const readOwnStatus = async ({ call }: Client, token: string): Promise<number> =>
  (await call('GET', '/api/v1/users/me', { token })).status;

/** Returns the actions of the audit about the second factor of a member, the oldest first. */
export async function listAudited({ db }: Pick<IdentityUnderTest, 'db'>, userId: string): Promise<string[]> {
  const { rows } = await db.query<{ action: string }>(
    `select action from audit_entries where subject_id = $1 and action like 'second_factor.%' order by id`,
    [userId],
  );
  return rows.map(({ action }) => action);
}

/** Sets an authenticator app up for the member of the session. An account with a factor proves it by a code, or by `proof`. */
export async function enrol(
  { call }: Client,
  phone: Phone,
  token: string,
  code?: string,
  proof: object = {},
): Promise<{ app: Authenticator; firstCode: string; recoveryCodes: string[] }> {
  const body = { ...(code !== undefined && { code }), ...proof };
  const begun = await call('POST', `${OWN}/totp`, { token, body });
  if (begun.status !== 200) throw new Error(`enrolment answered ${begun.status}: ${begun.text}`);
  const { secret, enrolment } = begun.body as { secret: string; enrolment: string };
  const app = phone.install(secret);
  const firstCode = app.code();
  const confirmed = await call('POST', `${OWN}/totp/confirm`, {
    token,
    body: { enrolment, code: firstCode },
  });
  if (confirmed.status !== 200)
    throw new Error(`confirmation answered ${confirmed.status}: ${confirmed.text}`);
  return { app, firstCode, recoveryCodes: confirmed.body.recoveryCodes as string[] };
}

/** Begins a login with the password. */
export const beginLogin = ({ call }: Client, { email, password }: Pick<Member, 'email' | 'password'>) =>
  call('POST', '/api/v1/auth/login', { body: { email, password } });

export const challengeIn = ({ body }: Answer): string =>
  (body as { signIn?: { challenge?: string } }).signIn?.challenge ?? '';

export const sendCode = ({ call }: Client, challenge: string, code: string) =>
  call('POST', '/api/v1/auth/login/second-factor', { body: { challenge, code } });

/** Begins a login with the password. @returns its challenge. */
export const beginChallenge = async (
  client: Client,
  member: Pick<Member, 'email' | 'password'>,
): Promise<string> => challengeIn(await beginLogin(client, member));
