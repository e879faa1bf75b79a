import {
  AppError,
  createServerErrorLog,
  dependencyUnavailable,
  isDatabaseUnavailable,
  type Logger,
} from '@platform/service-kit';
import { errors, type default as OidcProvider, type KoaContextWithOIDC } from 'oidc-provider';

/*
 * Errors of the authorization server that are not the client's: a database that does not answer in time, or the host of a
 * client's document. Each is a 503 or 429 that says when to try again, at every endpoint: `server_error` or
 * `invalid_client` would make an agent forget its connection.
 */

/** Returns the fault that lies behind an error, which the provider may have wrapped in its own. */
export function findFault(error: unknown): AppError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AppError) return cause;
  return isDatabaseUnavailable(error) ? dependencyUnavailable('database', error) : undefined;
}

export interface OAuthErrorBody {
  readonly error: string;
  readonly error_description?: string;
}

const setFault = (ctx: KoaContextWithOIDC, fault: AppError): OAuthErrorBody => {
  ctx.status = fault.statusCode;
  ctx.set({ ...fault.headers });
  return { error: 'temporarily_unavailable', error_description: fault.message };
};

/**
 * Sets the status and the headers of a response that the error makes a 503 or 429.
 *
 * @returns the body; undefined for any other error.
 */
export function applyFault(ctx: KoaContextWithOIDC, error: unknown): OAuthErrorBody | undefined {
  const fault = findFault(error);
  return fault && setFault(ctx, fault);
}

/** Sets the response to a request whose result could not be stored, for whatever reason. */
export function refuseForNow(ctx: KoaContextWithOIDC): void {
  ctx.body = setFault(ctx, dependencyUnavailable('database'));
}

/** Answers and logs the errors of the provider, and of all that runs around it. It is added before everything else. */
export function answerFaults(provider: OidcProvider, log: Logger): void {
  const logServerError = createServerErrorLog();
  provider.on('server_error', (ctx, error) => {
    logServerError(log, { error, message: 'The authorization server failed', isOutage: true });
    answer(ctx, error);
  });
  function answer(ctx: KoaContextWithOIDC, error: Error): void {
    const body = applyFault(ctx, error);
    // A page has its own form.
    if (body && typeof ctx.body === 'object') ctx.body = body;
  }
  provider.on('grant.error', answer);
  provider.on('revocation.error', answer);
  provider.on('registration_create.error', answer);
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof errors.OIDCProviderError) {
        ctx.status = error.statusCode;
        ctx.body = { error: error.message, error_description: error.error_description };
        return;
      }
      logServerError(log, { error, message: 'The authorization server failed', isOutage: true });
      ctx.status = 500;
      ctx.body = applyFault(ctx, error) ?? { error: 'server_error' };
    }
  });
}
