import { AppError, type App, isDisplayName } from '@platform/service-kit';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { toDeviceName } from '../../base/caller/client.js';
import { sendPage } from '../page-kit/page.js';
import { passkeyInvalid, passkeyNotFound } from '../passkeys/errors.js';
import { PasskeyRegistration } from '../passkeys/schemas.js';
import type { SecondFactorContext } from '../second-factor/context.js';
import type { Proof } from '../second-factor/proof.js';
import { showAgain } from './browser-session.js';
import { newPasskeyPage, renamePasskeyPage } from './change-pages.js';
import { readPasskey } from './passkey-forms.js';
import { PasskeyText } from './pending-visits.js';
import { type Change, CONFIRM_PASSKEY_PATH, RENAME_PASSKEY_PATH } from './security-pages.js';
import {
  findPasskey,
  getPage,
  postForm,
  showCodes,
  showSecurity,
  toFormState,
  type Visit,
  VisitFields,
} from './security-visits.js';
import { getSecondFactor } from '../second-factor/service.js';
import {
  beginOwnPasskey,
  confirmOwnPasskey,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../second-factor/own-passkeys.js';

const Name = Type.String({ maxLength: 60 });
const NewPasskeyForm = Type.Object({ ...VisitFields.properties, name: Name, passkey: PasskeyText });
const RenameForm = Type.Object({ ...VisitFields.properties, name: Name });

/** @throws AppError 400. */
function readName(name: string): string {
  if (isDisplayName(name.trim())) return name.trim();
  throw new AppError({ status: 400, code: 'VALIDATION_ERROR', message: 'This name cannot be used' });
}

/** @throws AppError 404. */
function requireId({ id }: Visit): string {
  if (id === undefined) throw passkeyNotFound();
  return id;
}

/**
 * Registers the pages of the own passkeys.
 *
 * @param change - registers the page that asks for the proof of a change, and what follows it.
 */
export function ownPasskeyPageRoutes(
  app: App,
  ctx: SecondFactorContext,
  change: (name: Change, run: (visit: Visit, proof: Proof) => Promise<FastifyReply>) => void,
): void {
  change('addPasskey', async (visit, proof) => {
    const options = await beginOwnPasskey(ctx, visit.caller, proof);
    const name = toDeviceName(visit.caller.client.userAgent);
    return sendPage(visit.reply, newPasskeyPage(options, name, toFormState(visit)));
  });
  postForm<Type.Static<typeof NewPasskeyForm>>(
    app,
    CONFIRM_PASSKEY_PATH,
    NewPasskeyForm,
    async (visit, form) => {
      const name = readName(form.name);
      const registration = readPasskey(PasskeyRegistration, form.passkey);
      if (!registration) throw passkeyInvalid();
      const codes = await confirmOwnPasskey(ctx, visit.caller, { name, registration });
      return codes ? showCodes(visit, codes) : showSecurity(ctx, visit, { done: 'The passkey is added.' });
    },
    (visit, error) => showSecurity(ctx, visit, { error }),
  );

  const rename = async (visit: Visit, error?: unknown) => {
    const passkey = findPasskey(await getSecondFactor(ctx, visit.caller), visit.id);
    const toPage = (fault?: string) => renamePasskeyPage(passkey, { ...toFormState(visit), fault });
    return error === undefined ? sendPage(visit.reply, toPage()) : showAgain(visit.reply, error, toPage);
  };
  getPage(app, RENAME_PASSKEY_PATH, (visit) => rename(visit));
  postForm<Type.Static<typeof RenameForm>>(
    app,
    RENAME_PASSKEY_PATH,
    RenameForm,
    async (visit, form) => {
      await renameOwnPasskey(ctx, visit.caller, requireId(visit), readName(form.name));
      return showSecurity(ctx, visit, { done: 'The passkey is renamed.' });
    },
    rename,
  );

  change('removePasskey', async (visit, proof) => {
    await removeOwnPasskey(ctx, visit.caller, requireId(visit), proof);
    return showSecurity(ctx, visit, { done: 'The passkey is removed.' });
  });
}
