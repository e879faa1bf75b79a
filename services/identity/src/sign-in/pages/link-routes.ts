import { type App, isDisplayName } from '@platform/service-kit';
import { Type } from 'typebox';
import { isLinkInvalid, linkInvalid } from '../account-flows/errors.js';
import { findPasswordFault, type PasswordOwner } from '../../base/common-passwords.js';
import {
  acceptInvitation,
  type AccountFlowContext,
  describeLink,
  resetPassword,
} from '../account-flows/service.js';
import { type ClientAddress, getClient } from '../../base/caller/client.js';
import type { LinkPurpose } from '../../mails/one-time-secrets/secret.js';
import { createFormToken, requireFormToken } from '../page-kit/form-token.js';
import type { Html } from '../page-kit/html.js';
import { type Page, sendPage } from '../page-kit/page.js';
import type { SignInOutcome } from '../sessions/sign-in-outcome.js';
import { continueSignIn, showAgain } from './browser-session.js';
import {
  choosePasswordPage,
  invalidLinkPage,
  linkPages,
  openLinkPage,
  passwordChangedPage,
} from './link-pages.js';
import { readReturnTo } from './paths.js';
import type { SignInPageDeps } from './sign-in-routes.js';

const LinkForm = Type.Object({
  token: Type.String({ maxLength: 2_048 }),
  password: Type.Optional(Type.String()),
  fullName: Type.Optional(Type.String()),
});
type LinkForm = Type.Static<typeof LinkForm>;

/** Returns the token of a link that was pasted whole, or the text itself. */
const readLinkToken = (text: string): string =>
  (/#token=([\w-]+)$/.exec(text.trim())?.[1] ?? text.trim()).slice(0, 128);

/** Returns what is wrong with a password or name that the API would not accept. */
function findChoiceFault(
  owner: PasswordOwner,
  { password = '', fullName = '' }: LinkForm,
): string | undefined {
  if (password.length < 8 || password.length > 256) return 'The password must have 8 to 256 characters.';
  const fault = findPasswordFault(password, owner);
  if (fault !== undefined) return `The password ${fault}.`;
  const name = fullName.trim();
  return name === '' || (name.length <= 200 && isDisplayName(name)) ? undefined : 'This name cannot be used.';
}

/** @throws AppError 400 LINK_INVALID when the link is of another purpose, too; 429. */
async function requireLinkOf(ctx: AccountFlowContext, purpose: LinkPurpose, token: string, address: string) {
  const link = await describeLink(ctx, token, address);
  if (link.purpose !== purpose) throw linkInvalid();
  return link;
}

/** The outcome of following a link: a page to show, or the sign-in of the accepted invitation. */
type Outcome = { readonly page: Page; readonly status: number } | { readonly signIn: SignInOutcome };

/** Follows a link with the chosen password, or shows whose it is. @throws AppError 400 LINK_INVALID; 429. */
async function followLink(
  ctx: AccountFlowContext,
  purpose: LinkPurpose,
  form: LinkForm,
  { client, token }: { readonly client: ClientAddress; readonly token: Html },
): Promise<Outcome> {
  const secret = readLinkToken(form.token);
  const link = await requireLinkOf(ctx, purpose, secret, client.address);
  const { password, fullName = '' } = form;
  if (password === undefined) return { page: choosePasswordPage(link, secret, { token }), status: 200 };
  const fault = findChoiceFault(link, form);
  if (fault !== undefined) return { page: choosePasswordPage(link, secret, { token, fault }), status: 400 };
  if (purpose === 'password_reset') {
    await resetPassword(ctx, { token: secret, password }, client);
    return { page: passwordChangedPage, status: 200 };
  }
  const name = fullName.trim() === '' ? {} : { fullName };
  return { signIn: await acceptInvitation(ctx, { token: secret, password, ...name }, client) };
}

/** The pages of mailed links. A link is sent in a form, first to see whose it is and then with the chosen password. */
export function linkRoutes(app: App, deps: SignInPageDeps): void {
  for (const purpose of ['invitation', 'password_reset'] as const) linkPageRoutes(app, deps, purpose);
}

function linkPageRoutes(app: App, { flows, sessions }: SignInPageDeps, purpose: LinkPurpose): void {
  const { path } = linkPages[purpose];
  const hide = true;
  app.get(path, { schema: { hide } }, (request, reply) =>
    sendPage(reply, openLinkPage(purpose, { token: createFormToken(request, reply) })),
  );
  app.post(
    path,
    { preHandler: requireFormToken, schema: { hide, body: LinkForm } },
    async (request, reply) => {
      const token = createFormToken(request, reply);
      let outcome: Outcome;
      try {
        outcome = await followLink(flows, purpose, request.body, { client: getClient(request), token });
      } catch (error) {
        if (isLinkInvalid(error)) return sendPage(reply, invalidLinkPage(purpose), { status: 400 });
        return showAgain(reply, error, (fault) => openLinkPage(purpose, { token, fault }));
      }
      return 'signIn' in outcome
        ? continueSignIn(request, reply, sessions, outcome.signIn, readReturnTo(undefined))
        : sendPage(reply, outcome.page, { status: outcome.status });
    },
  );
}
