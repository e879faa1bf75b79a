import { AppError, conflict, notFound } from '@platform/service-kit';

/** The error is the same for an unknown, revoked or expired token and for one of another member. */
export const tokenNotFound = (): AppError => notFound('Token not found');
/** A stolen token could otherwise revoke the token that created it and stay valid itself. */
export const sessionRequiredToKeepDescendants = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message:
      'Only a session can use keepDescendants: a stolen token could use it to outlive the token that made it',
  });
/** A stolen token could otherwise blind its owner: mute, rename or revoke the tokens of other programs. */
export const sessionRequiredOutsideFamily = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message: 'A token changes and revokes only itself and its descendants: use a session',
  });
/** A stolen token could otherwise move into another family, or out of its allow list, and outlive its revocation. */
export const sessionRequiredToRotate = (): AppError =>
  new AppError({
    status: 403,
    code: 'SESSION_REQUIRED',
    message:
      'A token rotates only itself and its descendants that are allowed from no more addresses: use a session',
  });
export const tokenRequired = (): AppError =>
  new AppError({
    status: 403,
    code: 'TOKEN_REQUIRED',
    message: 'Only a personal access token can call this, about itself',
  });
export const tooManyTokens = (reason: string): AppError =>
  conflict('TOO_MANY_TOKENS', `${reason}, the most there can be: revoke tokens that are not needed`);
export const tooManyPredecessors = (max: number): AppError =>
  conflict(
    'TOO_MANY_PREDECESSORS',
    `${max} predecessors of the token still work: rotate it without a grace, or wait until the grace of one ends`,
  );
export const tokenAlreadyRotated = (): AppError =>
  conflict('ALREADY_ROTATED', 'The token has been rotated already: use the token that replaced it');
