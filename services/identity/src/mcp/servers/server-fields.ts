import { type Egress, type SecretBox, TargetDenied } from '@platform/service-kit';
import { invalidUrl, secretRequired, targetDenied } from './errors.js';
import type { NewServer, ServerRow } from './queries.js';
import type { ChangeServerBody, CreateServerBody } from './schemas.js';
import { serverSecretContext } from './upstream/credentials.js';

type CredentialFields = Pick<NewServer, 'credential' | 'secretHeader' | 'secretSealed'>;

/** @throws AppError 400. */
export function parseServerUrl(text: string, egress: Pick<Egress, 'assertUrl'>): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isHttp || url.username !== '' || url.password !== '' || url.hash !== '') throw invalidUrl();
  try {
    egress.assertUrl(url);
  } catch (error) {
    throw error instanceof TargetDenied ? targetDenied() : error;
  }
  return url.href;
}

export function toCredentialFields(
  id: string,
  credential: CreateServerBody['credential'],
  box: SecretBox,
): CredentialFields {
  if (credential?.kind !== 'secret')
    return { credential: credential?.kind ?? 'none', secretHeader: null, secretSealed: null };
  const secretSealed = box.seal(credential.value, serverSecretContext(id));
  return { credential: 'secret', secretHeader: credential.header ?? 'authorization', secretSealed };
}

/** Whether a change of the URL leads to another origin, and so perhaps to somebody else. */
export const isOtherOrigin = (before: string, after: string): boolean =>
  new URL(before).origin !== new URL(after).origin;

/**
 * Returns the fields of a change. A secret is never sent to another origin than the one that it was given for, so that
 * nobody who changes a URL learns it.
 *
 * @throws AppError 400.
 */
export function toChangedFields(
  before: ServerRow,
  { name, url, credential, rules, maxAnswerBytes, isEnabled }: ChangeServerBody,
  { box, egress }: { readonly box: SecretBox; readonly egress: Pick<Egress, 'assertUrl'> },
) {
  const parsed = url === undefined ? undefined : parseServerUrl(url, egress);
  const isMoved = parsed !== undefined && isOtherOrigin(before.url, parsed);
  if (isMoved && before.secretSealed !== null && credential === undefined) throw secretRequired();
  const isReachedOtherwise = (parsed ?? before.url) !== before.url || credential !== undefined;
  return {
    ...(name !== undefined && { name }),
    ...(parsed !== undefined && { url: parsed }),
    ...(credential !== undefined && toCredentialFields(before.id, credential, box)),
    ...(rules !== undefined && { rules }),
    ...(maxAnswerBytes !== undefined && { maxAnswerBytes }),
    ...(isEnabled !== undefined && { isEnabled }),
    // The job asks again what had failed for its size.
    ...(isReachedOtherwise && { revision: before.revision + 1, refreshFault: null }),
  };
}
