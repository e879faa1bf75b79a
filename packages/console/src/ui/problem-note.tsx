import { text } from '#text/shared';
import { Problem } from '../api/problem.ts';
import { toSignIn } from '../api/session.ts';
import { describeFault } from './describe-fault.ts';

/** Server errors that say for certain that nothing was done. */
const NOT_DONE: ReadonlySet<string> = new Set([
  'NOTHING_DONE',
  'SMTP_ERROR',
  'REFRESH_FAILED',
  'SIGN_IN_FAILED',
  'MAIL_UNAVAILABLE',
]);

/** Says what happened, whether anything was done, and what to do. */
export function explainProblem(error: unknown): string {
  if (!(error instanceof Problem)) return text.problems.unexpected;
  const { status, code, message, details, isRead } = error;
  if (code === 'NOT_LOADED') return text.problems.notLoaded;
  if (code === 'OFFLINE') return isRead ? text.problems.offlineRead : text.problems.offline;
  if (isRead && (status === 0 || status >= 500) && status !== 503) return text.problems.unread;
  if (status === 0) return text.problems.unreachable;
  if (status === 401) return text.problems.signedOut;
  if (code === 'CONFIRMATION_REQUIRED') return text.problems.unconfirmed;
  if (NOT_DONE.has(code)) return text.problems.nothingDone(message);
  if (status === 502 || status === 504) return text.problems.unknownOutcome;
  if (status === 503) return text.problems.unavailable;
  if (status >= 500) return text.problems.failed;
  if (status === 429) return text.problems.tooMany;
  if (details.length === 0) return message;
  return `${message}. ${details.map(describeFault).join(' ')}`;
}

interface ProblemNoteProps {
  readonly error: unknown;
  /** Says something better than the problem itself, such as that its faults stand at their fields. */
  readonly instead?: string | undefined;
}

export const ProblemNote = ({ error, instead }: ProblemNoteProps) =>
  error === null || error === undefined ? null : (
    <p className="problem" role="alert">
      {instead ?? explainProblem(error)}{' '}
      {error instanceof Problem && error.status === 401 && (
        <a href={toSignIn('/')} target="_blank" rel="noreferrer">
          {text.session.signIn}
        </a>
      )}
    </p>
  );
