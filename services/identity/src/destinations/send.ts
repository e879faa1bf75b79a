import { randomBytes } from 'node:crypto';
import {
  type Clock,
  type Egress,
  readRetryAfter,
  readWebhookKeys,
  type SecretBox,
  signatureHeaders,
  VERSION,
} from '@platform/service-kit';
import { request } from 'undici';
import { toUpstreamFault, UpstreamFault, type UpstreamFaultKind } from '../base/egress/faults.js';
import { hasRejectedRecords, toLogsBody } from './logs.js';
import { destinationSecretContext } from './secrets.js';

/** The properties of a destination that a request needs. */
export interface Target {
  readonly id: string;
  readonly orgId: string;
  readonly form: string;
  readonly url: string;
  readonly secretSealed: string | null;
  readonly secretHeader: string | null;
  /** Of a subscription; receivers find the secret by it. */
  readonly subscriptionKey?: string | null;
}

/** Why a request failed, or what a receiver of logs made of it. */
export const attemptFaults = {
  /** A receiver of logs has dropped some of them, and must not be sent them again. */
  rejectedInPart: 'rejected_in_part',
  /** It waited for longer than facts are kept. */
  factDeleted: 'fact_deleted',
} as const;
export type AttemptFault = UpstreamFaultKind | (typeof attemptFaults)[keyof typeof attemptFaults];

/** An attempt as it is stored and shown. */
export interface Attempt {
  readonly at: string;
  readonly status: number | null;
  readonly fault: AttemptFault | null;
  readonly durationMs: number;
}

export interface Sent {
  readonly isAccepted: boolean;
  readonly attempt: Attempt;
  /** How long the receiver asks for a pause, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 65_536;

/**
 * A request of this long-lasting agent fails with one of these limits. The connections to one origin have none, so that a slow
 * receiver delays no other one behind the same name; the delivery job limits the requests.
 */
export const egressLimits = { maxAnswerBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS } as const;

function toStatusFault(status: number): UpstreamFaultKind | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'redirect';
  return status === 401 || status === 403 ? 'unauthorized' : 'http_error';
}

const toKeyHeaders = ({ subscriptionKey }: Pick<Target, 'subscriptionKey'>) =>
  subscriptionKey ? { 'x-mcp-subscription-id': subscriptionKey } : {};

/** Sends a request through the wall. The name of the host is resolved again unless there is a connection. */
function postTo(
  egress: Egress,
  to: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
) {
  const url = new URL(to);
  egress.assertUrl(url);
  return request(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': `workspace-platform/${VERSION}`,
    },
    body,
    dispatcher: egress.agent,
    signal,
  });
}

/** Why a challenge failed, in the words of SEP-3415. */
export type ChallengeFault =
  | 'challenge_failed'
  | 'connection_refused'
  | 'http_4xx'
  | 'http_5xx'
  | 'timeout'
  | 'tls_error';

const challengeFaults: Readonly<Partial<Record<UpstreamFaultKind, ChallengeFault>>> = {
  timeout: 'timeout',
  certificate: 'tls_error',
  too_large: 'challenge_failed',
  invalid_answer: 'challenge_failed',
};

function toChallengeFault(status: number): ChallengeFault | undefined {
  if (status >= 500) return 'http_5xx';
  if (status >= 400) return 'http_4xx';
  return status >= 200 && status < 300 ? undefined : 'challenge_failed';
}

function readChallenge(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}

/**
 * Asks whether whoever is behind a URL wants what will be sent to it. It throws nothing.
 *
 * @param key - signs the challenge.
 * @returns undefined when the receiver has repeated the challenge.
 */
export async function sendChallenge(
  { egress, clock }: { readonly egress: Egress; readonly clock: Clock },
  target: Required<Pick<Target, 'url' | 'subscriptionKey'>>,
  key: Buffer,
): Promise<ChallengeFault | undefined> {
  const challenge = randomBytes(24).toString('base64url');
  const body = JSON.stringify({ type: 'verification', challenge });
  const signed = { id: `msg_verification_${randomBytes(12).toString('hex')}`, at: clock(), content: body };
  const headers = { ...signatureHeaders([key], signed), ...toKeyHeaders(target) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await postTo(egress, target.url, { headers, body }, signal);
    const fault = toChallengeFault(answer.statusCode);
    if (fault) await answer.body.dump();
    if (fault) return fault;
    return readChallenge(await answer.body.text()) === challenge ? undefined : 'challenge_failed';
  } catch (error) {
    const { kind } = toUpstreamFault(signal.aborted ? new UpstreamFault('timeout') : error);
    return challengeFaults[kind] ?? 'connection_refused';
  }
}

export interface SendContext {
  readonly egress: Egress;
  readonly box: SecretBox;
  readonly clock: Clock;
}

async function toRequest(
  { box }: SendContext,
  target: Target,
  facts: readonly string[],
  id: string,
  at: number,
) {
  const { secretHeader, secretSealed } = target;
  const secret = secretSealed === null ? null : box.open(secretSealed, destinationSecretContext(target.id));
  if (target.form !== 'logs') {
    const [body = ''] = facts;
    const keys = secret === null ? [] : readWebhookKeys(secret, at);
    const headers = { ...signatureHeaders(keys, { id, at, content: body }), ...toKeyHeaders(target) };
    return { body, headers };
  }
  const headers = secretHeader !== null && secret !== null ? { [secretHeader]: secret } : {};
  return { body: await toLogsBody(target.orgId, facts, at), headers };
}

async function post(ctx: SendContext, target: Target, facts: readonly string[], id: string, at: number) {
  const given = await toRequest(ctx, target, facts, id, at);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await postTo(ctx.egress, target.url, given, signal);
    const { statusCode: status } = answer;
    const fault = toStatusFault(status);
    const retryAfter = answer.headers['retry-after'];
    const isReadAsLogs = target.form === 'logs' && fault === null;
    // The status decides: what was accepted is not sent again because of a long or slow answer.
    const text = await (isReadAsLogs ? answer.body.text() : answer.body.dump()).catch(() => undefined);
    return {
      status,
      fault: isReadAsLogs && hasRejectedRecords(text ?? '') ? attemptFaults.rejectedInPart : fault,
      isAccepted: fault === null,
      retryAfterMs: readRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, at),
    };
  } catch (error) {
    const { kind: fault } = toUpstreamFault(signal.aborted ? new UpstreamFault('timeout') : error);
    return { status: null, fault, isAccepted: false, retryAfterMs: undefined };
  }
}

/**
 * Sends facts to a destination: one to a webhook or a subscription, any number as logs. It throws only when the destination's
 * secret cannot be opened, which is no fault of the destination.
 *
 * @param id - of what is sent, the same for each attempt.
 */
export async function sendFacts(
  ctx: SendContext,
  target: Target,
  facts: readonly string[],
  id: string,
): Promise<Sent> {
  const at = ctx.clock();
  const startedAt = performance.now();
  const { status, fault, isAccepted, retryAfterMs } = await post(ctx, target, facts, id, at);
  const durationMs = Math.round(performance.now() - startedAt);
  return {
    isAccepted,
    retryAfterMs,
    attempt: { at: new Date(at).toISOString(), status, fault, durationMs },
  };
}
