import type { UserPrincipal } from '@platform/auth';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Caller, toCaller } from '../audit/actor.js';
import { createFormToken, requireFormToken } from '../pages/form-token.js';
import { sendPage } from '../pages/page.js';
import type { OwnSecondFactor } from '../second-factor/service.js';
import { showAgain } from './browser-session.js';
import { toSignInPath } from './paths.js';
import {
  recoveryCodesPage,
  securityActions,
  SECURITY_PATH,
  securityPage,
  setUpPage,
} from './second-factor-pages.js';

const hide = true;
const ProofForm = Type.Object({
  password: Type.String({ maxLength: 256 }),
  code: Type.Optional(Type.String({ maxLength: 64 })),
});
type ProofForm = Type.Static<typeof ProofForm>;
const toProof = ({ password, code }: ProofForm) => ({ currentPassword: password, code });
const ConfirmForm = Type.Object({
  code: Type.String({ maxLength: 64 }),
  enrolment: Type.String({ maxLength: 1_024 }),
});

type Handle<F> = (
  caller: Caller,
  form: F,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/** For a browser that is signed in: the pages of the own second factor. */
export function securityRoutes(app: App, factor: OwnSecondFactor): void {
  const toSignIn = (reply: FastifyReply) => reply.redirect(toSignInPath(SECURITY_PATH), 303);

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    member: UserPrincipal,
    what: { readonly error?: unknown; readonly done?: string } = {},
  ): Promise<FastifyReply> {
    const caller = toCaller(member, request);
    const state = await factor.get(caller);
    const token = createFormToken(request, reply);
    const toPage = (fault?: string) => securityPage(state, member.email, { token, fault, ...what });
    return what.error === undefined ? sendPage(reply, toPage()) : showAgain(reply, what.error, toPage);
  }

  /** Registers an action, whose errors are shown on the page that it was asked for on. */
  function post<F>(path: string, body: typeof ProofForm | typeof ConfirmForm, handle: Handle<F>): void {
    app.post(path, { preHandler: requireFormToken, schema: { hide, body } }, async (request, reply) => {
      const member = await app.findBrowserSession(request);
      if (!member) return toSignIn(reply);
      try {
        return await handle(toCaller(member, request), request.body as F, request, reply);
      } catch (error) {
        return show(request, reply, member, { error });
      }
    });
  }

  app.get(SECURITY_PATH, { schema: { hide } }, async (request, reply) => {
    const member = await app.findBrowserSession(request);
    return member ? show(request, reply, member) : toSignIn(reply);
  });

  post<ProofForm>(securityActions.setUp, ProofForm, async (caller, form, request, reply) => {
    const enrolment = await factor.enrol(caller, toProof(form));
    const state = { token: createFormToken(request, reply), returnTo: SECURITY_PATH };
    return sendPage(reply, setUpPage(enrolment, securityActions.confirm, state));
  });

  post<{ enrolment: string; code: string }>(
    securityActions.confirm,
    ConfirmForm,
    async (caller, form, request, reply) => {
      try {
        const codes = await factor.confirm(caller, form);
        return codes === null
          ? await show(request, reply, caller, { done: 'The new app is set up.' })
          : await sendPage(reply, recoveryCodesPage(codes, SECURITY_PATH));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'SECOND_FACTOR_INVALID') throw error;
        const shown = await factor.showEnrolment(caller, form.enrolment);
        const state = { token: createFormToken(request, reply), returnTo: SECURITY_PATH };
        return showAgain(reply, error, (fault) =>
          setUpPage(shown, securityActions.confirm, { ...state, fault }),
        );
      }
    },
  );

  post<ProofForm>(securityActions.renewCodes, ProofForm, async (caller, form, _request, reply) =>
    sendPage(reply, recoveryCodesPage(await factor.renewCodes(caller, toProof(form)), SECURITY_PATH)),
  );

  post<ProofForm>(securityActions.remove, ProofForm, async (caller, form, request, reply) => {
    await factor.disable(caller, toProof(form));
    return show(request, reply, caller, { done: 'The app is removed.' });
  });
}
