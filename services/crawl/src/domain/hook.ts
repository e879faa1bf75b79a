import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseWebhookSecret } from '@platform/service-kit';

/* How a request to a hook proves that it knows the hook's secret. */

export const hookKinds = ['github', 'gitlab', 'standard_webhooks', 'bearer'] as const;
export type HookKind = (typeof hookKinds)[number];

/** How far the time of a signature may be from now, either way: Standard Webhooks recommends five minutes. */
const TOLERANCE_MS = 300_000;

/** The verification of one request, whose body is hashed as it arrives. */
export interface HookVerification {
  readonly update: (chunk: Buffer) => void;
  /** Called once, at the end of the body. */
  readonly isValid: () => boolean;
}

const isEqual = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);
const toDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Texts of any length, compared in constant time. */
const isToken = (secrets: readonly string[], given: string): boolean => {
  const digest = toDigest(given);
  // Every secret is compared, so that the time says nothing about which of them it is.
  return secrets.filter((secret) => isEqual(toDigest(secret), digest)).length > 0;
};

function verifyToken(secrets: readonly string[], given: string | undefined): HookVerification | undefined {
  if (given === undefined || !isToken(secrets, given)) return undefined;
  return { update: () => undefined, isValid: () => true };
}

/** @param signed - what is signed before the body. @param given - the signatures of the request, of which one has to match. */
function verifySignature(
  keys: readonly (Buffer | string)[],
  signed: string,
  given: readonly Buffer[],
): HookVerification | undefined {
  if (given.length === 0) return undefined;
  const macs = keys.map((key) => createHmac('sha256', key).update(signed));
  return {
    update(chunk) {
      for (const mac of macs) mac.update(chunk);
    },
    isValid: () =>
      macs
        .map((mac) => mac.digest())
        .filter((digest) => given.some((signature) => isEqual(digest, signature))).length > 0,
  };
}

const getText = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
function verifyGitHub(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
): HookVerification | undefined {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(getText(headers, 'x-hub-signature-256') ?? '') ?? [];
  return verifySignature(secrets, '', hex === undefined ? [] : [Buffer.from(hex, 'hex')]);
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function verifyStandardWebhook(
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  now: number,
): HookVerification | undefined {
  const id = getText(headers, 'webhook-id');
  const timestamp = getText(headers, 'webhook-timestamp') ?? '';
  if (id === undefined || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(now - Number(timestamp) * 1_000) > TOLERANCE_MS) return undefined;
  const signatures = (getText(headers, 'webhook-signature') ?? '')
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []));
  const keys = secrets.flatMap((secret) => parseWebhookSecret(secret) ?? []);
  return verifySignature(keys, `${id}.${timestamp}.`, signatures);
}

type Verify = (
  secrets: readonly string[],
  headers: IncomingHttpHeaders,
  now: number,
) => HookVerification | undefined;

const verifiers: Readonly<Record<HookKind, Verify>> = {
  github: verifyGitHub,
  gitlab: (secrets, headers) => verifyToken(secrets, getText(headers, 'x-gitlab-token')),
  standard_webhooks: verifyStandardWebhook,
  bearer: (secrets, { authorization = '' }) =>
    verifyToken(secrets, /^Bearer +(\S+)$/i.exec(authorization)?.[1]),
};

/**
 * Begins to verify a request.
 *
 * @param secrets - of which one has to match.
 * @param now - epoch ms.
 * @returns undefined when its headers alone show that it is not valid.
 */
export const verifyHook = (kind: HookKind, ...given: Parameters<Verify>): HookVerification | undefined =>
  verifiers[kind](...given);
