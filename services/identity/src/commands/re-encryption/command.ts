import { ConfigError, type SecretBox } from '@platform/service-kit';
import type pg from 'pg';
import { smtpSecretContext } from '../../members/smtp/service.js';
import { clientSecretContext } from '../../sign-in/identity-provider/provider-fields.js';
import {
  ownSecretContextOf,
  serverSecretContext,
  signInContext,
} from '../../mcp/servers/upstream/credentials.js';
import { destinationSecretContext } from '../../destinations/secrets.js';
import { messageContext } from '../../mails/outbox/outbox.js';
import { totpContext } from '../../sign-in/second-factor/check.js';
import { signingKeyContext } from '../../credentials/signing-keys/key.js';
import { findSealed, replaceSealed, sealedColumns, type SealedValue } from './queries.js';

const PAGE = 500;

const contexts: Readonly<Record<keyof typeof sealedColumns, (subject: string) => string>> = {
  'SMTP secrets': smtpSecretContext,
  'signing keys': signingKeyContext,
  'outgoing mails': messageContext,
  'MCP server secrets': serverSecretContext,
  'own credentials at MCP servers': ownSecretContextOf,
  'sign-ins at MCP servers': signInContext,
  'destination secrets': destinationSecretContext,
  'client secrets': clientSecretContext,
  'authenticator secrets': totpContext,
};

function open(
  box: SecretBox,
  { id, subject, sealed }: SealedValue,
  name: keyof typeof sealedColumns,
): string {
  try {
    return box.open(sealed, contexts[name](subject));
  } catch {
    throw new ConfigError([`ENCRYPTION_KEYS must hold the key that sealed the ${name} (row ${id})`]);
  }
}

/**
 * Re-encrypts every value that isn't sealed with the first of `ENCRYPTION_KEYS`, while the service runs. It can be
 * interrupted and run again.
 *
 * @returns how many values were re-encrypted, by name.
 * @throws ConfigError when a value can't be opened; the values before it stay re-encrypted.
 */
export async function reencryptAll(db: pg.Pool, box: SecretBox): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of Object.keys(sealedColumns) as (keyof typeof sealedColumns)[]) {
    counts[name] = 0;
    let page: SealedValue[] = [];
    do {
      page = await findSealed(db, sealedColumns[name], page.at(-1)?.id, PAGE);
      for (const value of page.filter(({ sealed }) => !sealed.startsWith(box.prefix))) {
        const resealed = box.seal(open(box, value, name), contexts[name](value.subject));
        if (await replaceSealed(db, sealedColumns[name], value, resealed)) counts[name] += 1;
      }
    } while (page.length === PAGE);
  }
  return counts;
}
