import { AppError } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { ConfirmationRequired, isRecent } from '../../sign-in/sessions/confirmed.js';
import { type NamedBounds, readBounds, toChooser, toStoredBounds } from '../../credentials/bounds/bounds.js';
import {
  type ConsentContext,
  findClient,
  type Interaction,
  readConsentRequest,
  readText,
  unknownClient,
} from './consent-request.js';
import {
  answerInteraction,
  insertGrant,
  lockMember,
  lockSession,
  recordConnection,
  upsertDocumentClient,
} from './queries.js';

/** @returns false when the request has been answered before. */
export function denyConsent({ prisma, clock }: ConsentContext, { uid }: Interaction): Promise<boolean> {
  return answerInteraction(
    prisma,
    uid,
    { error: 'access_denied', error_description: 'the person denied it' },
    new Date(clock()),
  );
}

/**
 * Stores what the member allows. Nothing ticked is a denial.
 *
 * @param chosen - the scopes that the member has ticked, of which those that were not requested are ignored, and the bounds.
 * @returns false when the request has been answered before; nothing was stored then.
 * @throws AppError 400 when the client is gone, and for bounds that the member cannot choose; 401 when the member was removed or the session has ended meanwhile; ConfirmationRequired.
 */
export async function allowConsent(
  ctx: ConsentContext,
  interaction: Interaction,
  caller: Caller,
  chosen: { readonly scopes: readonly string[]; readonly bounds: NamedBounds },
): Promise<boolean> {
  const {
    clientId,
    kind,
    scopes: offered,
    expiresAt,
    redirectUri,
  } = await readConsentRequest(ctx, interaction, caller);
  const scopes = offered.map(({ name }) => name).filter((name) => chosen.scopes.includes(name));
  if (scopes.length === 0) return denyConsent(ctx, interaction);
  const bounds = toStoredBounds(await readBounds(ctx.pool, toChooser(caller), chosen.bounds)) ?? undefined;
  const client = await findClient(ctx.provider, clientId);
  const { orgId, userId } = caller;
  const at = new Date(ctx.clock());
  const id = uuidv7();
  const resource = readText(interaction.params, 'resource') || ctx.resources.mcp;
  return ctx.prisma.$transaction(async (tx) => {
    const result = { login: { accountId: userId }, consent: { grantId: id } };
    if (!(await answerInteraction(tx, interaction.uid, result, at))) return false;
    const isMember = await lockMember(tx, userId);
    const session = await lockSession(tx, caller.credentialId, at);
    if (!isMember || !session)
      throw new AppError({
        status: 401,
        code: 'UNAUTHORIZED',
        message: 'Your session has ended: sign in again',
      });
    if (!isRecent(session, at.getTime())) throw new ConfirmationRequired();
    if (kind === 'document')
      await upsertDocumentClient(tx, {
        id: clientId,
        name: client.clientName ?? new URL(clientId).host,
        redirectUris: client.redirectUris ?? [redirectUri],
        document: client.metadata(),
        at,
      });
    if (!(await recordConnection(tx, clientId, at))) throw unknownClient();
    const grant = { id, orgId, userId, clientId, resource, scopes, bounds, createdAt: at, expiresAt };
    await insertGrant(tx, { ...grant, lastAddress: caller.client.address });
    await insertAuditEntry(tx, {
      orgId,
      action: 'connected_app.authorized',
      actor: toActor(caller),
      subjectId: id,
      detail: {
        clientId,
        scopes: scopes.join(' '),
        redirectUri,
        expiresAt: expiresAt.toISOString(),
        ...(bounds && { bounds: JSON.stringify(chosen.bounds) }),
      },
      at,
    });
    return true;
  });
}
