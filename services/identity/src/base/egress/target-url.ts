import { type Egress, parseHttpUrl, TargetDenied, validationError } from '@platform/service-kit';

/**
 * Parses the URL of something outside the platform that administrators name.
 *
 * @param variable - the setting with which the operator allows other targets.
 * @throws AppError 400.
 */
export function parseTargetUrl(text: string, egress: Pick<Egress, 'assertUrl'>, variable: string): string {
  const refuse = (message: string) => validationError([{ field: 'url', message }]);
  const url = parseHttpUrl(text);
  if (!url) throw refuse('must be an absolute URL without a user name, password or fragment');
  try {
    egress.assertUrl(url);
  } catch (error) {
    if (!(error instanceof TargetDenied)) throw error;
    throw refuse(
      `must be https and public, unless the operator of the platform allows the target (${variable})`,
    );
  }
  return url.href;
}

/** Whether a change of the URL leads to another origin, and so perhaps to somebody else. */
export const isOtherOrigin = (before: string, after: string): boolean =>
  new URL(before).origin !== new URL(after).origin;
