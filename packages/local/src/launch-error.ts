/** A fault that a few plain lines explain to whoever started the platform; shown without a stack. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
