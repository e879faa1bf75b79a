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
}

interface SmtpFailure {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
}

export function problemOf(thrown: unknown): SmtpProblem {
  const { code, originalCode, command, responseCode } = (thrown ?? {}) as SmtpFailure;
  return {
    code: typeof code === 'string' ? code : 'EUNKNOWN',
    ...(typeof originalCode === 'string' ? { detail: originalCode } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof responseCode === 'number' ? { reply: responseCode } : {}),
  };
}

/** Connections that break at once are worth another try; a silent server would only be waited for again. */
const transientCodes: ReadonlySet<string> = new Set(['ECONNECTION', 'ESOCKET', 'EDNS']);

/** OpenSSL's verdicts on certificates, and Node's on their names: the same next time. */
export const isCertificateFault = ({ detail = '' }: SmtpProblem): boolean =>
  /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED/.test(detail);

const isTemporaryReply = ({ reply = 0 }: SmtpProblem): boolean => reply >= 400 && reply < 500;

export interface Verdict {
  readonly outcome: Outcome;
  /** Another try can't make a second mail of it, and may go better. */
  readonly canRetry: boolean;
}

/**
 * @param isMessageRead - whether a byte of the message was handed to the connection. Before that, nothing
 *   can have been accepted; after it, only the server's own "no" to the message says so (RFC 5321 §4.2.5).
 */
export function judgeFailure(thrown: unknown, isMessageRead: boolean): Verdict {
  const problem = problemOf(thrown);
  const isRefusal = problem.command === 'DATA' && (problem.reply ?? 0) >= 400;
  if (isMessageRead && !isRefusal) return { outcome: { state: 'unknown', problem }, canRetry: false };
  const isTransient = transientCodes.has(problem.code) && !isCertificateFault(problem);
  const canRetry = problem.reply === undefined ? isTransient : isTemporaryReply(problem);
  return { outcome: { state: 'failed', problem }, canRetry };
}
