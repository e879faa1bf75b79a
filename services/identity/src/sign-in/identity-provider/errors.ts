import { AppError, conflict, notFound, validationError } from '@platform/service-kit';

export const providerNotFound = (): AppError => notFound('Your organisation has no identity provider');
export const domainNotFound = (): AppError => notFound('Domain not found');

export const invalidIssuer = (): AppError =>
  validationError([
    {
      field: 'issuer',
      message: 'must be an absolute URL without a user name, password, query, fragment or /.well-known/',
    },
  ]);
export const issuerDenied = (): AppError =>
  validationError([
    {
      field: 'issuer',
      message:
        'must be https and public, unless the operator of the platform allows the target (IDENTITY_PROVIDER_ALLOWED_TARGETS)',
    },
  ]);
export const openidRequired = (): AppError =>
  validationError([{ field: 'scopes', message: 'must contain openid' }]);
/** A secret is never sent to another provider than the one it was given for. */
export const secretRequired = (): AppError =>
  validationError([
    {
      field: 'clientSecret',
      message: 'must be given again, or be null, when the issuer or the client id changes',
    },
  ]);

export const invalidDomain = (): AppError =>
  validationError([{ field: 'domain', message: 'must be a domain name such as example.com' }]);
export const tooManyDomains = (max: number): AppError =>
  conflict('TOO_MANY_DOMAINS', `An organisation can have ${max} domains`);
export const domainTaken = (): AppError =>
  conflict('DOMAIN_TAKEN', 'Another organisation of this platform has verified this domain');
export const recordNotFound = (name: string): AppError =>
  conflict('DOMAIN_NOT_VERIFIED', `The TXT record ${name} was not found, or does not have this value yet`);
export const dnsUnavailable = (cause: unknown): AppError =>
  new AppError({
    status: 503,
    code: 'DNS_UNAVAILABLE',
    message: 'The name servers of the domain did not answer: try again later',
    cause,
    headers: { 'retry-after': '10' },
  });

export const verifiedDomainRequired = (): AppError =>
  conflict('DOMAIN_REQUIRED', 'Verify a domain before members are required to use the provider');
/** Without the connection, the member's password would not let them in. */
export const providerIsRequired = (): AppError =>
  conflict(
    'PROVIDER_REQUIRED',
    'Your organisation requires its identity provider: ask an administrator to disconnect your account',
  );
export const noAdministratorLeft = (): AppError =>
  conflict(
    'NO_ADMINISTRATOR_LEFT',
    'No administrator could sign in any more: one has to sign in with the provider first, or have an address outside the verified domains',
  );
export const notLinked = (): AppError =>
  conflict('NOT_LINKED', 'The account is not connected with an identity at the provider');
