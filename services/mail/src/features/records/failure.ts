import { describeProblem } from '../delivery/describe.js';
import { isPermanentRefusal, type SmtpProblem } from '../delivery/outcome.js';
import type { Failure } from './schemas.js';

/** What an administrator is told of a failure: never the server's own words. */
export const toFailure = (problem: SmtpProblem): Failure => ({
  kind: isPermanentRefusal(problem) ? 'permanent' : 'temporary',
  code: problem.code,
  ...(problem.reply !== undefined && { reply: problem.reply }),
  ...(problem.status !== undefined && { status: problem.status }),
  message: describeProblem(problem),
});
