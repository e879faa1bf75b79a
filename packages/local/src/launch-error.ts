/** A fault that a few plain lines explain to the operator; shown without a stack. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
