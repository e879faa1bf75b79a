import { randomBytes } from 'node:crypto';
import { DAY_MS } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';

/*
 * A cookie that stays in a browser after the session: the account's own attempts to sign in there are counted apart, so that
 * nobody elsewhere can use them up (OWASP, "Device cookies"). It authenticates nobody.
 */
const COOKIE = 'browser';
const SECONDS = (180 * DAY_MS) / 1_000;
const SECRET = /^[\w-]{43}$/;

/** Returns the secret of the browser; undefined when it has none. */
export function readBrowserSecret({ server, raw }: FastifyRequest): string | undefined {
  const secret = server.sessionCookies.readCookie(raw, COOKIE);
  return secret !== undefined && SECRET.test(secret) ? secret : undefined;
}

/** Sets the cookie, or keeps it for longer. @returns the secret of the browser. */
export function keepBrowserSecret(request: FastifyRequest, reply: FastifyReply): string {
  const secret = readBrowserSecret(request) ?? randomBytes(32).toString('base64url');
  reply.header('set-cookie', request.server.sessionCookies.toCookie(COOKIE, secret, SECONDS));
  return secret;
}
