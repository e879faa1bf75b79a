import { describeProblem, type SmtpProblem } from '@platform/auth';
import { isPermanentRefusal } from '../delivery/outcome.js';
import type { Failure } from './schemas.js';

/** Describes a failure to administrators by its codes. It never quotes the server, whose text may contain a password. */
export const toFailure = (problem: SmtpProblem): Failure => ({
  kind: isPermanentRefusal(problem) ? 'permanent' : 'temporary',
  code: problem.code,
  ...(problem.reply !== undefined && { reply: problem.reply }),
  ...(problem.status !== undefined && { status: problem.status }),
  message: describeProblem(problem),
});
