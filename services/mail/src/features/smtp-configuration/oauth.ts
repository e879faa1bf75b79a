import { parseUrl } from '@platform/service-kit';

/** How access tokens are obtained. The secrets must not appear in any response, log line or error. */
export type SmtpOauth =
  | {
      readonly provider: 'microsoft';
      readonly tenant: string;
      readonly clientId: string;
      readonly clientSecret?: string;
      /** A certificate and its private key (PEM), instead of the client secret. */
      readonly certificate?: string;
    }
  | { readonly provider: 'google'; readonly serviceAccount: string; readonly privateKey: string }
  | {
      readonly provider: 'custom';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret?: string;
      readonly refreshToken: string;
      readonly scope?: string;
    };

const HTTP_URL = /^https?:\/\/[^\s/\\?#]/i;

const readString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 32_768 ? value : undefined;

function readServiceAccount(json: string | undefined): SmtpOauth | undefined {
  let key: Readonly<Record<string, unknown>> | null;
  try {
    key = JSON.parse(json ?? 'null') as typeof key;
  } catch {
    return undefined;
  }
  const [serviceAccount, privateKey] = [readString(key?.client_email), readString(key?.private_key)];
  return serviceAccount !== undefined && privateKey !== undefined
    ? { provider: 'google', serviceAccount, privateKey }
    : undefined;
}

/**
 * Validates the field `auth` of a configuration, whose form is documented in identity's configuration manager.
 *
 * @returns undefined when it is incomplete.
 */
export function readSmtpOauth(raw: unknown): SmtpOauth | undefined {
  if (raw === null || typeof raw !== 'object') return undefined;
  const fields = raw as Readonly<Record<string, unknown>>;
  if (fields.type !== 'oauth2') return undefined;
  const [clientId, clientSecret] = [readString(fields.clientId), readString(fields.clientSecret)];
  const secret = clientSecret === undefined ? {} : { clientSecret };
  if (fields.provider === 'google') return readServiceAccount(readString(fields.serviceAccountKey));
  if (clientId === undefined) return undefined;
  if (fields.provider === 'microsoft') {
    const [tenant, certificate] = [readString(fields.tenant), readString(fields.certificate)];
    if (tenant === undefined || !/^[A-Za-z0-9.-]+$/.test(tenant)) return undefined;
    if (clientSecret !== undefined) return { provider: 'microsoft', tenant, clientId, ...secret };
    return certificate === undefined ? undefined : { provider: 'microsoft', tenant, clientId, certificate };
  }
  if (fields.provider !== 'custom') return undefined;
  const [tokenUrl, refreshToken] = [readString(fields.tokenUrl), readString(fields.refreshToken)];
  const scope = readString(fields.scope);
  if (tokenUrl === undefined || !HTTP_URL.test(tokenUrl) || !parseUrl(tokenUrl)) return undefined;
  if (refreshToken === undefined) return undefined;
  return {
    provider: 'custom',
    tokenUrl,
    clientId,
    ...secret,
    refreshToken,
    ...(scope !== undefined && { scope }),
  };
}
