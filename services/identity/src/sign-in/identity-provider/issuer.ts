import { type Egress, TargetDenied } from '../../base/egress/egress.js';
import { invalidIssuer, issuerDenied } from './errors.js';

/** Checks the URL of a provider. @throws AppError 400. */
export function parseIssuer(text: string, egress: Pick<Egress, 'assertUrl'>): URL {
  if (!URL.canParse(text)) throw invalidIssuer();
  const url = new URL(text);
  const { protocol, username, password, href } = url;
  if (protocol !== 'https:' && protocol !== 'http:') throw issuerDenied();
  if (username !== '' || password !== '' || /[?#]|\/\.well-known\//.test(href)) throw invalidIssuer();
  try {
    egress.assertUrl(url);
  } catch (error) {
    throw error instanceof TargetDenied ? issuerDenied() : error;
  }
  return url;
}
