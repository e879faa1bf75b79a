import { createHash, createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { createProviderFetch, type Egress, TargetDenied } from '@platform/service-kit';
import { SignJWT } from 'jose';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  genericTokenEndpointRequest,
  None,
} from 'oauth4webapi';
import type { SmtpOauth } from '../smtp-configuration/oauth.js';

const TIMEOUT_MS = 10_000;
/** RFC 7523 §3 wants assertions to be short-lived. */
const ASSERTION_SECONDS = 300;
/** The lifetime of a token whose provider doesn't say it (RFC 6749 §5.1). */
const DEFAULT_LIFETIME_SECONDS = 300;
/** In base64 and with the user name, it has to fit into the 12,288 octets of an AUTH line (RFC 4954 §4). */
const MAX_ACCESS_TOKEN_LENGTH = 8_192;

export interface NewToken {
  readonly accessToken: string;
  readonly lifetimeMs: number;
  /** Replaces the refresh token that was used. */
  readonly refreshToken?: string | undefined;
}

/** Why there is no token: a code of RFC 6749 §5.2, one of Entra (AADSTS…), or what became of the connection. Never a text. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
  // The same fields as nodemailer's errors, so that `toProblem` reads both.
  readonly code = 'ETOKEN';
  constructor(readonly originalCode: string) {
    super(`no access token: ${originalCode}`);
  }
}

/** Replaces the token endpoints of the providers. Tests set it. */
export type TokenEndpoints = Partial<Readonly<Record<'microsoft' | 'google', string>>>;

interface Grant {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly authenticate: ClientAuth;
  readonly type: string;
  readonly parameters: Record<string, string>;
}

/** Signs an assertion of RFC 7523. @throws TokenFault when the key can't be used. */
async function signAssertion(
  header: { readonly alg: string; readonly 'x5t#S256'?: string },
  privateKey: string,
  claims: { readonly iss: string; readonly sub: string; readonly aud: string; readonly scope?: string },
  now: number,
): Promise<string> {
  const iat = Math.floor(now / 1_000);
  try {
    return await new SignJWT({ ...claims, jti: randomUUID(), iat, nbf: iat, exp: iat + ASSERTION_SECONDS })
      .setProtectedHeader({ ...header, typ: 'JWT' })
      .sign(createPrivateKey(privateKey));
  } catch {
    throw new TokenFault('invalid_key');
  }
}

/** Signs with the certificate, in the form of Entra: RFC 7523 §2.2, with the thumbprint that names the certificate. */
const authenticateByCertificate =
  (certificate: string, tokenUrl: string, now: number): ClientAuth =>
  async (_server, { client_id: clientId }, body) => {
    const thumbprint = createHash('sha256').update(new X509Certificate(certificate).raw).digest('base64url');
    const header = { alg: 'PS256', 'x5t#S256': thumbprint };
    const claims = { iss: clientId, sub: clientId, aud: tokenUrl };
    body.set('client_id', clientId);
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    body.set('client_assertion', await signAssertion(header, certificate, claims, now));
  };

const authenticateBySecret = (secret: string | undefined): ClientAuth =>
  secret === undefined ? None() : ClientSecretPost(secret);

type Of<P extends SmtpOauth['provider']> = Extract<SmtpOauth, { readonly provider: P }>;

function toMicrosoftGrant(auth: Of<'microsoft'>, endpoint: string | undefined, now: number): Grant {
  const { tenant, clientId, clientSecret, certificate } = auth;
  const tokenUrl = endpoint ?? `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`;
  return {
    tokenUrl,
    clientId,
    authenticate:
      certificate === undefined
        ? authenticateBySecret(clientSecret)
        : authenticateByCertificate(certificate, tokenUrl, now),
    type: 'client_credentials',
    parameters: { scope: 'https://outlook.office365.com/.default' },
  };
}

async function toGoogleGrant(
  { serviceAccount, privateKey }: Of<'google'>,
  username: string,
  tokenUrl: string,
  now: number,
): Promise<Grant> {
  const scope = 'https://mail.google.com/';
  const claims = { iss: serviceAccount, sub: username, aud: tokenUrl, scope };
  return {
    tokenUrl,
    clientId: serviceAccount,
    // The assertion says who asks.
    authenticate: () => undefined,
    type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    parameters: { assertion: await signAssertion({ alg: 'RS256' }, privateKey, claims, now) },
  };
}

const toRefreshGrant = ({ tokenUrl, clientId, clientSecret, refreshToken, scope }: Of<'custom'>): Grant => ({
  tokenUrl,
  clientId,
  authenticate: authenticateBySecret(clientSecret),
  type: 'refresh_token',
  parameters: { refresh_token: refreshToken, ...(scope !== undefined && { scope }) },
});

async function toGrant(
  auth: SmtpOauth,
  username: string,
  { microsoft, google = 'https://oauth2.googleapis.com/token' }: TokenEndpoints,
  now: number,
): Promise<Grant> {
  if (auth.provider === 'microsoft') return toMicrosoftGrant(auth, microsoft, now);
  return auth.provider === 'google' ? toGoogleGrant(auth, username, google, now) : toRefreshGrant(auth);
}

const getString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Reads the code of a refused request. Of Entra's text only the number is kept, because the text may quote the request. */
function toFault(status: number, body: Readonly<Record<string, unknown>>): TokenFault {
  const number = /^AADSTS\d{1,10}(?!\d)/.exec(getString(body.error_description) ?? '')?.[0];
  const code = /^[a-z_]{1,64}$/.exec(getString(body.error) ?? '')?.[0];
  return new TokenFault(number ?? code ?? `http_${status}`);
}

function toToken(body: Readonly<Record<string, unknown>>): NewToken {
  const accessToken = getString(body.access_token);
  if (
    accessToken === undefined ||
    accessToken.length > MAX_ACCESS_TOKEN_LENGTH ||
    !/^[\x21-\x7e]+$/.test(accessToken)
  )
    throw new TokenFault('invalid_answer');
  const seconds = Number(body.expires_in ?? DEFAULT_LIFETIME_SECONDS);
  return {
    accessToken,
    lifetimeMs: (seconds > 0 ? Math.min(seconds, 86_400) : DEFAULT_LIFETIME_SECONDS) * 1_000,
    refreshToken: getString(body.refresh_token),
  };
}

function* getCauses(error: unknown): Generator<{ readonly code?: unknown; readonly name?: unknown }> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

function toNetworkFault(error: unknown): TokenFault {
  for (const cause of getCauses(error)) {
    if (cause instanceof TokenFault) return cause;
    if (cause instanceof TargetDenied) return new TokenFault('no_address');
    if (cause.name === 'TimeoutError' || cause.code === 'UND_ERR_CONNECT_TIMEOUT')
      return new TokenFault('timeout');
  }
  return new TokenFault('unreachable');
}

/**
 * Creates the function that asks a provider for an access token.
 *
 * @param egress - decides where a token URL may lead. Redirects are not followed.
 */
export function createRequestToken(egress: Egress, endpoints: TokenEndpoints = {}) {
  const fetchFromProvider = createProviderFetch(egress);
  /** @throws TokenFault. */
  return async (auth: SmtpOauth, username: string, now: number): Promise<NewToken> => {
    try {
      const { tokenUrl, clientId, authenticate, type, parameters } = await toGrant(
        auth,
        username,
        endpoints,
        now,
      );
      const response = await genericTokenEndpointRequest(
        { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl },
        { client_id: clientId },
        authenticate,
        type,
        parameters,
        {
          // oxlint-disable-next-line typescript/no-deprecated -- the egress rules decide which target may do without TLS
          [allowInsecureRequests]: true,
          [customFetch]: fetchFromProvider,
          signal: () => AbortSignal.timeout(TIMEOUT_MS),
        },
      );
      const body = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>> | null;
      if (response.status !== 200) throw toFault(response.status, body ?? {});
      return toToken(body ?? {});
    } catch (error) {
      throw toNetworkFault(error);
    }
  };
}

export type RequestToken = ReturnType<typeof createRequestToken>;
