import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { sendPage } from '../page-kit/page.js';
import { PasskeyAssertion } from '../passkeys/schemas.js';
import type { SecondFactorContext } from '../second-factor/context.js';
import type { Proof } from '../second-factor/proof.js';
import { showAgain } from './browser-session.js';
import { ownPasskeyPageRoutes } from './own-passkey-routes.js';
import { readPasskey } from './passkey-forms.js';
import { PasskeyText } from './pending-visits.js';
import { setUpPage } from './second-factor-pages.js';
import { type Change, changes, CONFIRM_PATH, SECURITY_PATH } from './security-pages.js';
import {
  getPage,
  postForm,
  proveChange,
  requireConfirmed,
  showCodes,
  showSecurity,
  toFormState,
  type Visit,
  VisitFields,
} from './security-visits.js';
import {
  confirmApp,
  disableApp,
  enrolApp,
  renewOwnCodes,
  showOwnEnrolment,
} from '../second-factor/service.js';

const ProofForm = Type.Object({
  ...VisitFields.properties,
  code: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(PasskeyText),
});
type ProofForm = Type.Static<typeof ProofForm>;
const ConfirmForm = Type.Object({
  ...VisitFields.properties,
  code: Type.String({ maxLength: 64 }),
  enrolment: Type.String({ maxLength: 1_024 }),
});
const toProof = ({ code, passkey }: ProofForm): Proof => ({
  code,
  passkey: readPasskey(PasskeyAssertion, passkey),
});

/** For a browser that is signed in: the pages of the own second factor. */
export function securityRoutes(app: App, ctx: SecondFactorContext): void {
  /** Registers the page that asks for the proof of a change, and what follows it. */
  function change(name: Change, run: (visit: Visit, proof: Proof) => Promise<FastifyReply>): void {
    const { path } = changes[name];
    getPage(app, path, (visit) => requireConfirmed(ctx, visit, name, () => proveChange(ctx, visit, name)));
    postForm<ProofForm>(
      app,
      path,
      ProofForm,
      (visit, form) => requireConfirmed(ctx, visit, name, () => run(visit, toProof(form))),
      (visit, error) => proveChange(ctx, visit, name, error),
    );
  }

  getPage(app, SECURITY_PATH, (visit) => showSecurity(ctx, visit));

  change('setUp', async (visit, proof) => {
    const enrolment = await enrolApp(ctx, visit.caller, proof);
    return sendPage(visit.reply, setUpPage(enrolment, CONFIRM_PATH, toFormState(visit)));
  });
  postForm<Type.Static<typeof ConfirmForm>>(
    app,
    CONFIRM_PATH,
    ConfirmForm,
    async (visit, form) => {
      try {
        const codes = await confirmApp(ctx, visit.caller, form);
        return codes
          ? await showCodes(visit, codes)
          : await showSecurity(ctx, visit, { done: 'The app is set up.' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'SECOND_FACTOR_INVALID') throw error;
        const shown = await showOwnEnrolment(ctx, visit.caller, form.enrolment);
        return showAgain(visit.reply, error, (fault) =>
          setUpPage(shown, CONFIRM_PATH, { ...toFormState(visit), fault }),
        );
      }
    },
    (visit, error) => showSecurity(ctx, visit, { error }),
  );
  change('renewCodes', async (visit, proof) =>
    showCodes(visit, await renewOwnCodes(ctx, visit.caller, proof)),
  );
  change('remove', async (visit, proof) => {
    await disableApp(ctx, visit.caller, proof);
    return showSecurity(ctx, visit, { done: 'The app is removed.' });
  });

  ownPasskeyPageRoutes(app, ctx, change);
}
