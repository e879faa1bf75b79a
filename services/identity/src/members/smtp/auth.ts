import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type FaultDetail, parseHttpUrl, validationError } from '@platform/service-kit';
import {
  fieldsOfProvider,
  type SmtpAuth,
  type SmtpAuthProvider,
  type SmtpAuthWithSecrets,
} from './schemas.js';

type Field = Exclude<keyof SmtpAuthWithSecrets, 'type' | 'provider'>;

const fieldsOf: Readonly<
  Record<SmtpAuthProvider, { readonly required: readonly Field[]; readonly optional: readonly Field[] }>
> = fieldsOfProvider;

const allFields = [...new Set(Object.values(fieldsOf).flatMap((of) => [...of.required, ...of.optional]))];

function findFieldFaults(auth: SmtpAuthWithSecrets): FaultDetail[] {
  const { required, optional } = fieldsOf[auth.provider];
  return allFields.flatMap((field) => {
    const isGiven = auth[field] !== undefined;
    if (!isGiven && required.includes(field))
      return [{ field: `auth.${field}`, message: `is required for ${auth.provider}` }];
    if (isGiven && !required.includes(field) && !optional.includes(field))
      return [{ field: `auth.${field}`, message: `is not known for ${auth.provider}` }];
    return [];
  });
}

const refuse = (field: Field, message: string) => validationError([{ field: `auth.${field}`, message }]);

/** @returns the end of the certificate. @throws AppError 400 unless there is a certificate and the private key of it. */
function readCertificate(pem: string): string {
  try {
    const certificate = new X509Certificate(pem);
    if (certificate.checkPrivateKey(createPrivateKey(pem)))
      return new Date(certificate.validTo).toISOString();
  } catch {
    // The fault is the same for whatever isn't a certificate and a key.
  }
  throw refuse('certificate', 'must hold a certificate and its private key, unencrypted, in PEM');
}

/** @returns the e-mail address of the service account. @throws AppError 400 for anything but a key of one. */
function readServiceAccount(json: string): string {
  try {
    const key = JSON.parse(json) as { client_email?: unknown; private_key?: unknown } | null;
    createPrivateKey(String(key?.private_key));
    if (typeof key?.client_email === 'string' && key.client_email !== '') return key.client_email;
  } catch {
    // As above.
  }
  throw refuse('serviceAccountKey', 'must be the JSON file of a key of a service account');
}

function assertTokenUrl(tokenUrl: string): void {
  // Without TLS it is refused by the mail service, unless its operator has listed the target.
  if (!parseHttpUrl(tokenUrl)) throw refuse('tokenUrl', 'must be an https URL');
}

/**
 * Separates what may be read from what is sealed.
 *
 * @throws AppError 400 for a field of another provider, and for a missing or unusable one.
 */
export function splitAuth(auth: SmtpAuthWithSecrets): { readonly open: SmtpAuth; readonly secret: string } {
  const faults = findFieldFaults(auth);
  if (faults.length > 0) throw validationError(faults);
  const { clientSecret, certificate, serviceAccountKey, refreshToken, ...open } = auth;
  if (auth.provider === 'microsoft' && (clientSecret === undefined) === (certificate === undefined))
    throw refuse('clientSecret', 'or `certificate` is required for microsoft, and only one of them');
  if (auth.tokenUrl !== undefined) assertTokenUrl(auth.tokenUrl);
  return {
    open: {
      ...open,
      ...(certificate !== undefined && { certificateExpiresAt: readCertificate(certificate) }),
      ...(serviceAccountKey !== undefined && { serviceAccount: readServiceAccount(serviceAccountKey) }),
      ...(auth.provider === 'custom' && { hasClientSecret: clientSecret !== undefined }),
    },
    secret: JSON.stringify({ clientSecret, certificate, serviceAccountKey, refreshToken }),
  };
}

/** Reverses {@link splitAuth}. */
export function mergeAuth(open: SmtpAuth, secret: string): SmtpAuthWithSecrets {
  const { certificateExpiresAt: _end, serviceAccount: _account, hasClientSecret: _has, ...rest } = open;
  return { ...rest, ...(JSON.parse(secret) as Partial<SmtpAuthWithSecrets>) };
}

/** Describes the sign-in in a line of the audit. */
export function describeAuth(auth: SmtpAuth): string {
  const { provider, tenant, clientId, certificateExpiresAt, serviceAccount, tokenUrl, scope } = auth;
  const proof = certificateExpiresAt === undefined ? undefined : 'certificate';
  return [provider, tenant, clientId, proof, serviceAccount, tokenUrl, scope]
    .filter((part) => part !== undefined)
    .join(', ');
}
