import { createFormatDay } from '../page-kit/dates.js';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Caller, toCaller } from '../../base/caller/actor.js';
import { createFormToken, requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { passkeyNotFound } from '../passkeys/errors.js';
import { beginPasskeyProof } from '../second-factor/own-passkeys.js';
import type { SecondFactorState } from '../second-factor/schemas.js';
import { getSecondFactor, isChangeConfirmed } from '../second-factor/service.js';
import { showAgain } from './browser-session.js';
import { readReturnTo, toConfirmPath, toSignInPath } from './paths.js';
import { proofPage } from './change-pages.js';
import { recoveryCodesPage } from './second-factor-pages.js';
import { type Change, changes, SECURITY_PATH, securityPage } from './security-pages.js';
import type { SecondFactorContext } from '../second-factor/context.js';

const ACCOUNT_PATH = '/account';

/** The fields that the addresses and the forms of the pages share. */
export const VisitFields = Type.Object({
  returnTo: Type.Optional(Type.String({ maxLength: 4_096 })),
  /** The id of a passkey. */
  id: Type.Optional(Type.String({ format: 'uuid' })),
});
type VisitFields = Type.Static<typeof VisitFields>;

/** A request of a browser that is signed in. */
export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  /** The path that the person came from. */
  readonly returnTo: string;
  readonly id: string | undefined;
}

const hide = true;

type Handle<F> = (visit: Visit, form: F) => Promise<FastifyReply>;

/** Turns a request into a visit, or asks the person to sign in. */
async function visit<F extends VisitFields>(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: F,
  handle: Handle<F>,
): Promise<FastifyReply> {
  const member = await app.findBrowserSession(request);
  if (!member) return reply.redirect(toSignInPath(SECURITY_PATH), 303);
  const returnTo = readReturnTo(fields.returnTo ?? ACCOUNT_PATH);
  return handle({ request, reply, caller: toCaller(member, request), returnTo, id: fields.id }, fields);
}

export const getPage = (app: App, path: string, handle: Handle<VisitFields>): void => {
  app.get(path, { schema: { hide, querystring: VisitFields } }, (request, reply) =>
    visit(app, request, reply, request.query, handle),
  );
};

/** @param refuse - shows what was wrong with the form. */
export function postForm<F extends VisitFields>(
  app: App,
  path: string,
  body: Type.TObject,
  handle: Handle<F>,
  refuse: (visit: Visit, error: unknown) => Promise<FastifyReply>,
): void {
  app.post(path, { preHandler: requireFormToken, schema: { hide, body } }, (request, reply) =>
    visit(app, request, reply, request.body as F, async (visited, form) => {
      try {
        return await handle(visited, form);
      } catch (error) {
        return refuse(visited, error);
      }
    }),
  );
}

export const toFormState = ({ request, reply, returnTo }: Visit) => ({
  token: createFormToken(request, reply),
  returnTo,
});

/** Shows new recovery codes, which lead back to the own second factor. */
export const showCodes = ({ reply, returnTo }: Visit, codes: readonly string[]): FastifyReply =>
  sendPage(reply, recoveryCodesPage(codes, toSignInPath(returnTo, SECURITY_PATH)));

/** @throws AppError 404. */
export function findPasskey({ passkeys }: SecondFactorState, id: string | undefined) {
  const passkey = passkeys.find((found) => found.id === id);
  if (!passkey) throw passkeyNotFound();
  return passkey;
}

async function askPasskey(
  ctx: SecondFactorContext,
  caller: Caller,
  { passkeys }: SecondFactorState,
): Promise<object | undefined> {
  if (passkeys.length === 0) return undefined;
  try {
    return await beginPasskeyProof(ctx, caller);
  } catch (error) {
    if (error instanceof AppError && error.code === 'PASSKEYS_UNAVAILABLE') return undefined;
    throw error;
  }
}

/** Shows the own second factor: what every change of it begins and ends with. */
export async function showSecurity(
  ctx: SecondFactorContext,
  { reply, caller, returnTo }: Visit,
  { error, done }: { readonly error?: unknown; readonly done?: string } = {},
): Promise<FastifyReply> {
  const state = await getSecondFactor(ctx, caller);
  const toPage = (fault?: string) =>
    securityPage(state, caller.email, {
      returnTo,
      fault,
      formatDay: createFormatDay(reply.request),
      ...(done !== undefined && { done }),
    });
  return error === undefined ? sendPage(reply, toPage()) : showAgain(reply, error, toPage);
}

/** Runs a part of a change; first asks for a confirmation of the session where it needs one. */
export async function requireConfirmed(
  ctx: SecondFactorContext,
  { reply, caller, id, returnTo }: Visit,
  change: Change,
  run: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  if (await isChangeConfirmed(ctx, caller)) return run();
  const path = toSignInPath(returnTo, changes[change].path);
  return reply.redirect(toConfirmPath(id === undefined ? path : `${path}&id=${id}`), 303);
}

/** Asks for the proof of a change. */
export async function proveChange(
  ctx: SecondFactorContext,
  visited: Visit,
  change: Change,
  error?: unknown,
): Promise<FastifyReply> {
  const { reply, caller, id } = visited;
  const state = await getSecondFactor(ctx, caller);
  const passkey = change === 'removePasskey' ? findPasskey(state, id) : undefined;
  const options = await askPasskey(ctx, caller, state);
  const form = { ...toFormState(visited), passkey, options };
  const toPage = (fault?: string) => proofPage(change, state, caller.email, { ...form, fault });
  return error === undefined ? sendPage(reply, toPage()) : showAgain(reply, error, toPage);
}
