import type { SealedColumn } from '@platform/service-kit';
import { signingKeyContext } from '../credentials/signing-keys/key.js';
import { destinationSecretContext } from '../destinations/secrets.js';
import { messageContext } from '../mails/outbox/outbox.js';
import { ownSecretContext, serverSecretContext, signInContext } from '../mcp/servers/upstream/credentials.js';
import { smtpSecretContext } from '../members/smtp/service.js';
import { clientSecretContext } from '../sign-in/identity-provider/provider-fields.js';
import { totpContext } from '../sign-in/second-factor/check.js';

/** Describes a column of a table whose primary key is one column, for which its values are sealed. */
const toColumn = (
  table: string,
  [id, type]: readonly [string, 'uuid' | 'text'],
  column: string,
  toContext: (id: string) => string,
): SealedColumn => ({ table, key: { [id]: type }, column, toContext: (row) => toContext(row[id] ?? '') });

/** Describes a table of own secrets of accounts at MCP servers. */
const toOwnSecrets = (table: string): SealedColumn => ({
  table,
  key: { id: 'uuid' },
  column: 'secret_sealed',
  with: ['server_id', 'account_id'],
  toContext: ({ server_id: serverId = '', account_id: accountId = '' }) =>
    ownSecretContext(serverId, accountId),
});

/** The columns whose values are sealed with `ENCRYPTION_KEYS`, by what they hold. */
export const sealedColumns = {
  'SMTP secrets': toColumn('smtp_configurations', ['org_id', 'uuid'], 'secret_sealed', smtpSecretContext),
  'signing keys': toColumn('signing_keys', ['id', 'text'], 'private_sealed', signingKeyContext),
  'outgoing mails': toColumn('outgoing_mails', ['id', 'uuid'], 'sealed_message', messageContext),
  'MCP server secrets': toColumn('mcp_servers', ['id', 'uuid'], 'secret_sealed', serverSecretContext),
  'own credentials at MCP servers': toOwnSecrets('mcp_credentials'),
  'tokens of MCP servers to revoke': toOwnSecrets('mcp_revocations'),
  'sign-ins at MCP servers': toColumn('mcp_sign_ins', ['state_hash', 'text'], 'flow_sealed', signInContext),
  'destination secrets': toColumn(
    'fact_destinations',
    ['id', 'uuid'],
    'secret_sealed',
    destinationSecretContext,
  ),
  'client secrets': toColumn(
    'identity_providers',
    ['org_id', 'uuid'],
    'client_secret_sealed',
    clientSecretContext,
  ),
  'authenticator secrets': toColumn('totp_factors', ['user_id', 'uuid'], 'secret_sealed', totpContext),
} as const satisfies Readonly<Record<string, SealedColumn>>;
