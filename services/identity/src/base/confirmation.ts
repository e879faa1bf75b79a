import type { FastifyRequest } from 'fastify';

/** The parts of a request that decide; nothing has validated them yet. */
type UnvalidatedRequest = Pick<FastifyRequest, 'body' | 'query'>;

/**
 * Returns whether the request is dangerous in the session of a browser (AUTH-41): it gives somebody power that outlasts the
 * session, or takes from other people what cannot be given back. Such a request needs a session that was opened or confirmed
 * recently. What cannot be read is dangerous.
 */
export type NeedsConfirmation = (request: UnvalidatedRequest) => boolean;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which requests need a confirmed session; none when it is left out. */
    needsConfirmation?: NeedsConfirmation;
    /** Whether sessions that no browser holds need it, too. */
    confirmsAnySession?: boolean;
  }
}

export const always: NeedsConfirmation = () => true;

/**
 * The configuration of routes that need a confirmed session, whatever client holds it: they decide who can sign in, so that a
 * stolen session could become any account for good.
 */
export const inAnySession = { needsConfirmation: always, confirmsAnySession: true } as const;

/** Anything but a request that names the dry run once. */
export const unlessDryRun: NeedsConfirmation = ({ query }) =>
  !(typeof query === 'object' && query !== null && 'dryRun' in query && query.dryRun === 'true');

/** A request that names the field. */
export const withField =
  (field: string): NeedsConfirmation =>
  ({ body }) =>
    typeof body !== 'object' || body === null || field in body;
