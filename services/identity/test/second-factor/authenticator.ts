import type { Answer } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { admin, type IdentityUnderTest, type Member } from '../identity.js';

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

const OWN = '/api/v1/auth/second-factor';

/** Sets an authenticator app up for the member of the session. An account with a factor proves it by a code, or by `proof`. */
export async function enrol(
  { call }: Client,
  phone: Phone,
  token: string,
  code?: string,
  proof: object = {},
): Promise<{ app: Authenticator; firstCode: string; recoveryCodes: string[] }> {
  const body = { currentPassword: admin.password, ...(code !== undefined && { code }), ...proof };
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
