import { insertAuditEntries } from '../../audit/record.sql.js';
import type { Actor } from '../../base/caller/actor.js';
import type { SqlClient } from '../../base/sql-client.js';

/** Which of the own credentials at MCP servers end: all of an account, all at a server, or one. */
type Ending =
  | { readonly accountId: string }
  | {
      readonly serverId: string;
      /** Undefined for everybody's. */
      readonly accountId?: string;
      /** What the server asked for, where that has changed in this transaction. */
      readonly credential?: string;
    };

/** Why a credential ends that nobody has disconnected. */
type EndReason = 'account_removed' | 'server_changed' | 'server_removed';

/*
 * Tokens of a sign-in are good at their authorization server until they are revoked there. They are handed over in the statement
 * that deletes them here: no crash, and no authorization server that is down, leaves any that nobody knows.
 */
const end = (condition: string) => `
  with ended as (
    delete from mcp_credentials c using mcp_servers s
    where s.id = c.server_id and ${condition}
    returning c.id, c.org_id, c.account_id, c.server_id, c.secret_sealed, s.name, coalesce($2::text, s.credential) as credential
  ), handed_over as (
    insert into mcp_revocations (id, server_id, account_id, secret_sealed, ended_at, next_attempt_at)
    select id, server_id, account_id, secret_sealed, $1::timestamptz, $1::timestamptz from ended where credential = 'oauth'
  )
  select org_id::text as "orgId", account_id::text as "accountId", server_id::text as "serverId", name from ended`;

const ofAccount = end('c.account_id = $3::uuid');
const atServer = end('c.server_id = $3::uuid');
const ofAccountAtServer = end('c.server_id = $3::uuid and c.account_id = $4::uuid');

function toStatement(ending: Ending): readonly [text: string, ids: readonly string[]] {
  if (!('serverId' in ending)) return [ofAccount, [ending.accountId]];
  const { serverId, accountId } = ending;
  return accountId === undefined ? [atServer, [serverId]] : [ofAccountAtServer, [serverId, accountId]];
}

/**
 * Ends own credentials of accounts at MCP servers, records it for each account, and has tokens revoked where they come from.
 *
 * @returns how many there were.
 */
export async function endServerCredentials(
  tx: SqlClient,
  ending: Ending,
  {
    actor,
    at,
    reason = null,
  }: { readonly actor: Actor; readonly at: Date; readonly reason?: EndReason | null },
): Promise<number> {
  const [text, ids] = toStatement(ending);
  const credential = 'credential' in ending ? ending.credential : undefined;
  const { rows: ended } = await tx.query<{
    orgId: string;
    accountId: string;
    serverId: string;
    name: string;
  }>(text, [at, credential ?? null, ...ids]);
  if (ended.length > 0)
    await insertAuditEntries(
      tx,
      ended.map(({ orgId, accountId, serverId, name }) => ({
        orgId,
        action: 'mcp_credential.removed',
        actor,
        subjectId: accountId,
        reason,
        detail: { server: name, serverId },
        at,
      })),
    );
  return ended.length;
}
