import { isCertificateFault, type SmtpProblem } from '@platform/events/facts';
import { readEmailAddress } from '@platform/service-kit';
import { isPermanentReply, isTooManyRecipients, isTransientReply, readReply } from './smtp-replies.js';

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
  /**
   * The message was at least partly sent and no final reply came, so the server may have accepted it. The listed recipients
   * have an outcome from an earlier transaction.
   */
  | {
      readonly state: 'unknown';
      readonly problem: SmtpProblem;
      readonly recipients: readonly RecipientOutcome[];
    };

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

function describe({ code, originalCode, command, responseCode, response }: SmtpFailure): SmtpProblem {
  const text = typeof response === 'string' ? response : '';
  const { status } = readReply(text);
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

/** Reads the refusals of single recipients from an error of nodemailer, or from the result of a mail to the others. */
const toRefusals = (failure: unknown): { readonly recipient: string; readonly problem: SmtpProblem }[] =>
  (((failure ?? {}) as SmtpFailure).rejectedErrors ?? []).flatMap((error) => {
    const { recipient } = (error ?? {}) as { recipient?: unknown };
    if (typeof recipient !== 'string') return [];
    // nodemailer writes the domain of an international address in Unicode.
    return {
      recipient: readEmailAddress(recipient) ?? recipient,
      problem: describe(error as SmtpFailure),
    };
  });

/** Returns the outcome for a recipient whom the server did not accept. */
export const toRefusedOutcome = (address: string, problem: SmtpProblem): RecipientOutcome => ({
  address,
  state: isPermanentRefusal(problem) ? 'refused' : 'deferred',
  status: problem.status ?? problem.reply?.toString(),
});

const toRecipientOutcomes = (failure: unknown): RecipientOutcome[] =>
  toRefusals(failure).map(({ recipient, problem }) => toRefusedOutcome(recipient, problem));

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

/** Returns whether this mail will never be accepted as it is. */
export const isPermanentRefusal = ({ code, command = '', ...codes }: SmtpProblem): boolean =>
  permanentCodes.has(code) || (mailCommands.has(command) && isPermanentReply(codes));

/** Returns whether the server was not reached, or stopped answering. */
export const isServerSilent = ({ code, reply }: SmtpProblem): boolean =>
  reply === undefined && (code === 'ETIMEDOUT' || transientCodes.has(code));

/**
 * Failed connections are retried, unless the certificate was rejected. Timeouts are not, because the next attempt would
 * probably wait just as long.
 */
const transientCodes: ReadonlySet<string> = new Set(['ECONNECTION', 'ESOCKET', 'EDNS']);

/** The outcome of one transaction (RFC 5321 §3.3). */
export interface AttemptResult {
  readonly outcome: Outcome;
  /** True when another attempt may succeed and cannot deliver the mail twice. */
  readonly canRetry: boolean;
  /** The recipients that the server may accept in a further transaction, because it takes no more of them in one. */
  readonly tooMany?: readonly string[];
}

/** Reads the result of a message that the server accepted for at least one recipient. */
export const classifySuccess = (info: unknown): AttemptResult => ({
  outcome: { state: 'sent', recipients: toRecipientOutcomes(info) },
  canRetry: false,
  tooMany: toRefusals(info).flatMap(({ recipient, problem }) =>
    isTooManyRecipients(problem) ? recipient : [],
  ),
});

/**
 * Decides whether a failed attempt is certain to have delivered nothing.
 *
 * @param isMessageBegun - whether any byte of the message was handed to the connection. Before that, the server cannot have
 *   accepted the mail; after it, only the server's refusal of the message rules that out (RFC 5321 §4.2.5).
 */
export function classifyFailure(thrown: unknown, isMessageBegun: boolean): AttemptResult {
  const problem = toProblem(thrown);
  const isRefusal = problem.command === 'DATA' && (problem.reply ?? 0) >= 400;
  if (isMessageBegun && !isRefusal)
    return { outcome: { state: 'unknown', problem, recipients: [] }, canRetry: false };
  const isTransient = transientCodes.has(problem.code) && !isCertificateFault(problem);
  const canRetry = problem.reply === undefined ? isTransient : isTransientReply(problem);
  return { outcome: { state: 'failed', problem, recipients: toRecipientOutcomes(thrown) }, canRetry };
}
