import { isCertificateFault, type SmtpProblem } from '@platform/auth';

export type RecipientState = 'accepted' | 'deferred' | 'refused' | 'suppressed';

/** The outcome of a mail for one of its recipients. */
export interface RecipientOutcome {
  readonly address: string;
  readonly state: RecipientState;
  /** The enhanced status code, or else the reply code. */
  readonly status?: string | undefined;
}

/** The outcome of a delivery. */
export type Outcome =
  /** The server accepted the mail for all recipients except the listed ones. */
  | { readonly state: 'sent'; readonly recipients: readonly RecipientOutcome[] }
  /** The server cannot have accepted the mail. The listed recipients were refused individually. */
  | {
      readonly state: 'failed';
      readonly problem: SmtpProblem;
      readonly recipients: readonly RecipientOutcome[];
    }
  /** The message was at least partly sent and no final reply came, so the server may have accepted it. */
  | { readonly state: 'unknown'; readonly problem: SmtpProblem };

interface SmtpFailure {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  /** Holds one error for each refused recipient. */
  readonly rejectedErrors?: readonly unknown[];
}

/** The replies of Exchange Online for accounts whose login is switched off, which no code distinguishes from others. */
const knownReasons: readonly (readonly [RegExp, string])[] = [
  [/SmtpClientAuthentication is disabled for the Tenant/i, 'SMTP_AUTH_DISABLED_FOR_TENANT'],
  [/SmtpClientAuthentication is disabled for the Mailbox/i, 'SMTP_AUTH_DISABLED_FOR_MAILBOX'],
  [/basic authentication is (?:disabled|not supported)/i, 'BASIC_AUTH_DISABLED'],
];

const enhancedStatus = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S)/;

function describe({ code, originalCode, command, responseCode, response }: SmtpFailure): SmtpProblem {
  const text = typeof response === 'string' ? response : '';
  const status = enhancedStatus.exec(text)?.[1];
  const reason = knownReasons.find(([pattern]) => pattern.test(text))?.[1];
  const detail = typeof originalCode === 'string' ? originalCode : reason;
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    ...(detail === undefined ? {} : { detail }),
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof responseCode === 'number' ? { reply: responseCode } : {}),
    ...(status === undefined ? {} : { status }),
  };
}

/** The recipients that the server didn't accept, from an error of nodemailer or the result of a mail to the others. */
export const toRecipientOutcomes = (failure: unknown): RecipientOutcome[] =>
  (((failure ?? {}) as SmtpFailure).rejectedErrors ?? []).flatMap((error) => {
    const { recipient } = (error ?? {}) as { recipient?: unknown };
    if (typeof recipient !== 'string') return [];
    const problem = describe(error as SmtpFailure);
    return {
      address: recipient,
      state: isPermanentRefusal(problem) ? ('refused' as const) : ('deferred' as const),
      status: problem.status ?? problem.reply?.toString(),
    };
  });

/** When several recipients were refused, returns the problem of a recipient that may be accepted later, if there is one. */
export function toProblem(thrown: unknown): SmtpProblem {
  const failure = (thrown ?? {}) as SmtpFailure;
  const refusals = (failure.rejectedErrors ?? []).map((error) => describe((error ?? {}) as SmtpFailure));
  return refusals.find((refusal) => !isPermanentRefusal(refusal)) ?? describe(failure);
}

/** The commands that concern the mail itself. A refusal of any other command concerns this client or its login. */
const mailCommands: ReadonlySet<string> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/**
 * Faults of a mail that this service finds itself, and that another attempt would have, too. A stored request that cannot be
 * rendered (EINVALID) is not one of them: it was valid when it was accepted, so another version of this service wrote it.
 */
const permanentCodes: ReadonlySet<string> = new Set(['ENORECIPIENT', 'ESUPPRESSED']);

/** These have the permanent class 5 in RFC 3463 but are temporary: mailbox full, system full, system not accepting mail. */
const transientStatuses: ReadonlySet<string> = new Set(['5.2.2', '5.3.1', '5.3.2']);

/** RFC 4954 §6: the server requires a login, so the configuration is at fault and not the mail. */
const AUTHENTICATION_REQUIRED = 530;

/**
 * Returns whether this mail will never be accepted as it is. The class of the enhanced status decides when there is
 * one (RFC 3463 §2), otherwise the class of the reply.
 */
export function isPermanentRefusal({ code, command = '', reply = 0, status }: SmtpProblem): boolean {
  if (permanentCodes.has(code)) return true;
  if (!mailCommands.has(command) || reply === AUTHENTICATION_REQUIRED) return false;
  if (status !== undefined) return status.startsWith('5.') && !transientStatuses.has(status);
  return reply >= 500;
}

/** Returns whether the server was not reached, or stopped answering. */
export const isServerSilent = ({ code, reply }: SmtpProblem): boolean =>
  reply === undefined && (code === 'ETIMEDOUT' || transientCodes.has(code));

/**
 * Failed connections are retried, unless the certificate was rejected. Timeouts are not, because the next attempt would
 * probably wait just as long.
 */
const transientCodes: ReadonlySet<string> = new Set(['ECONNECTION', 'ESOCKET', 'EDNS']);

const isTemporaryReply = ({ reply = 0, status }: SmtpProblem): boolean =>
  status === undefined ? reply >= 400 && reply < 500 : status.startsWith('4.');

export interface AttemptResult {
  readonly outcome: Outcome;
  /** True when another attempt may succeed and cannot deliver the mail twice. */
  readonly canRetry: boolean;
}

/**
 * Decides whether a failed attempt is certain to have delivered nothing.
 *
 * @param isMessageBegun - whether any byte of the message was handed to the connection. Before that, the server cannot have
 *   accepted the mail; after it, only the server's refusal of the message rules that out (RFC 5321 §4.2.5).
 */
export function classifyFailure(thrown: unknown, isMessageBegun: boolean): AttemptResult {
  const problem = toProblem(thrown);
  const isRefusal = problem.command === 'DATA' && (problem.reply ?? 0) >= 400;
  if (isMessageBegun && !isRefusal) return { outcome: { state: 'unknown', problem }, canRetry: false };
  const isTransient = transientCodes.has(problem.code) && !isCertificateFault(problem);
  const canRetry = problem.reply === undefined ? isTransient : isTemporaryReply(problem);
  return { outcome: { state: 'failed', problem, recipients: toRecipientOutcomes(thrown) }, canRetry };
}
