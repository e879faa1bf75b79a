/** What is known of a mail once the SMTP server has been asked. */
export type Outcome =
  /** The server took it; `refused` are the recipients that it wouldn't. */
  | { readonly state: 'sent'; readonly refused: readonly string[] }
  /** The server can't have taken it. */
  | { readonly state: 'failed'; readonly problem: SmtpProblem }
  /** The message was on the wire and no verdict came: it may have been taken. */
  | { readonly state: 'unknown'; readonly problem: SmtpProblem };

/**
 * What may be told and logged of a failure. Never the server's words: one that repeats the AUTH line would
 * put the password there.
 */
export interface SmtpProblem {
  /** nodemailer's code, such as ECONNECTION, EAUTH, EENVELOPE. */
  readonly code: string;
  /** The system's own code below it, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
  readonly detail?: string;
  /** The SMTP command that was under way. */
  readonly command?: string;
  /** The SMTP reply code (RFC 5321 §4.2). */
  readonly reply?: number;
  /** The enhanced status code (RFC 3463), such as 5.1.1: digits only. */
  readonly status?: string;
}

interface SmtpFailure {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
  /** One for each recipient that was refused. */
  readonly rejectedErrors?: readonly unknown[];
}

const enhancedStatus = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S)/;

function describe({ code, originalCode, command, responseCode, response }: SmtpFailure): SmtpProblem {
  const status = typeof response === 'string' ? enhancedStatus.exec(response)?.[1] : undefined;
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    ...(typeof originalCode === 'string' ? { detail: originalCode } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof responseCode === 'number' ? { reply: responseCode } : {}),
    ...(status === undefined ? {} : { status }),
  };
}

/** Of several refused recipients, one that may be accepted later stands for the mail. */
export function toProblem(thrown: unknown): SmtpProblem {
  const failure = (thrown ?? {}) as SmtpFailure;
  const refusals = (failure.rejectedErrors ?? []).map((error) => describe((error ?? {}) as SmtpFailure));
  return refusals.find((refusal) => !isPermanentRefusal(refusal)) ?? describe(failure);
}

/** The commands that speak of the mail. What is refused before them is this client, or its login. */
const mailCommands: ReadonlySet<string> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/** RFC 3463 has class 5 for them, and they pass: a full mailbox, a full system, one that takes no mail now. */
const transientStatuses: ReadonlySet<string> = new Set(['5.2.2', '5.3.1', '5.3.2']);

/** RFC 4954 §6: the server wants a login first, which is a matter of the configuration. */
const AUTHENTICATION_REQUIRED = 530;

/**
 * Whether the server will never take this mail as it is. The class of the enhanced status counts where there is one
 * (RFC 3463 §2), else that of the reply.
 */
export function isPermanentRefusal({ command = '', reply = 0, status }: SmtpProblem): boolean {
  if (!mailCommands.has(command) || reply === AUTHENTICATION_REQUIRED) return false;
  if (status !== undefined) return status.startsWith('5.') && !transientStatuses.has(status);
  return reply >= 500;
}

/** Connections that break at once are worth another try; a silent server would only be waited for again. */
const transientCodes: ReadonlySet<string> = new Set(['ECONNECTION', 'ESOCKET', 'EDNS']);

/** OpenSSL's verdicts on certificates, and Node's on their names: the same next time. */
export const isCertificateFault = ({ detail = '' }: SmtpProblem): boolean =>
  /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED/.test(detail);

const isTemporaryReply = ({ reply = 0, status }: SmtpProblem): boolean =>
  status === undefined ? reply >= 400 && reply < 500 : status.startsWith('4.');

export interface AttemptResult {
  readonly outcome: Outcome;
  /** Another try can't make a second mail of it, and may go better. */
  readonly canRetry: boolean;
}

/**
 * @param isMessageRead - whether a byte of the message was handed to the connection. Before that, nothing
 *   can have been accepted; after it, only the server's own "no" to the message says so (RFC 5321 §4.2.5).
 */
export function classifyFailure(thrown: unknown, isMessageRead: boolean): AttemptResult {
  const problem = toProblem(thrown);
  const isRefusal = problem.command === 'DATA' && (problem.reply ?? 0) >= 400;
  if (isMessageRead && !isRefusal) return { outcome: { state: 'unknown', problem }, canRetry: false };
  const isTransient = transientCodes.has(problem.code) && !isCertificateFault(problem);
  const canRetry = problem.reply === undefined ? isTransient : isTemporaryReply(problem);
  return { outcome: { state: 'failed', problem }, canRetry };
}
