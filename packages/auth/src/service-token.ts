import type { Clock } from '@platform/service-kit';
import type { Call } from './identity-caller.js';
import { TOKEN_PATH } from './introspection.js';

/** A service credential is replaced this long before it ends. */
const RENEW_BEFORE_MS = 60_000;

export interface ServiceTokenOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
}

/** Form-encodes one part of the client credentials (RFC 6749 §2.3.1). */
const encodeForm = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** Obtains a credential by the client credentials grant (RFC 6749 §4.4). Concurrent callers share one request. */
export function createServiceToken(call: Call, options: ServiceTokenOptions) {
  let current: { readonly token: string; readonly renewAt: number } | undefined;
  let pending: Promise<string> | undefined;
  async function request(): Promise<string> {
    const { clientId, clientSecret } = options;
    const basic = Buffer.from(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`).toString('base64');
    const { status, body } = await call(
      'POST',
      TOKEN_PATH,
      { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      'grant_type=client_credentials',
    );
    if (status !== 200)
      throw new Error(`identity answered ${status} to the client credentials of ${options.clientId}`);
    const { access_token: token, expires_in: seconds } = body as { access_token: string; expires_in: number };
    current = {
      token,
      renewAt: options.clock() + Math.max(seconds * 500, seconds * 1_000 - RENEW_BEFORE_MS),
    };
    return token;
  }
  return {
    get(): Promise<string> {
      if (current && options.clock() < current.renewAt) return Promise.resolve(current.token);
      pending ??= request().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    forget(): void {
      current = undefined;
    },
  };
}

export type ServiceToken = ReturnType<typeof createServiceToken>;
