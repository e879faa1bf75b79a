import { html, type Html } from '../../sign-in/page-kit/html.js';
import type { Page } from '../../sign-in/page-kit/page.js';
import { MCP_AUDIENCE } from '../provider/protected-resources.js';
import type { ConsentRequest } from './consent-request.js';

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function describeClient({ kind, identity, claimedName }: ConsentRequest): Html {
  if (kind === 'application')
    return html`<p><strong>${identity}</strong>, registered by your administrators, asks for access.</p>`;
  if (kind === 'document')
    return html`<p><strong>${identity}</strong> asks for access.</p>
      ${claimedName !== undefined && html`<p>It calls itself &ldquo;${claimedName}&rdquo;.</p>`}`;
  return html`<p>An application that calls itself &ldquo;${identity}&rdquo; asks for access.</p>
    <p role="alert">Nobody has verified who it is. Allow it only if you have just started it yourself.</p>`;
}

/** Returns the places where the tokens of the application work. */
const describeReach = ({ audiences }: ConsentRequest): string =>
  audiences.includes(MCP_AUDIENCE) ? 'in remote tools' : `in the API of ${audiences.join(', ')}`;

/**
 * The page that asks a member what an application may do. It works without JavaScript.
 *
 * @param state - `ticked` are the scopes that the member had left ticked before; everything is, at first.
 */
export function consentPage(
  request: ConsentRequest,
  member: { readonly email: string },
  { formToken, ticked }: { readonly formToken: Html; readonly ticked: readonly string[] | undefined },
): Page {
  const { redirectUri, isLocal, scopes, expiresAt, organisation } = request;
  const target = new URL(redirectUri);
  const isTicked = (name: string): boolean => ticked?.includes(name) ?? true;
  return {
    title: 'Connect an application',
    organisation,
    body: html`${describeClient(request)}
      <p>
        You are signed in as ${member.email}, a member of <strong>${organisation}</strong>. It will act for
        you ${describeReach(request)}.
      </p>
      <form method="post">
        ${formToken}
        <fieldset>
          <legend>It may</legend>
          ${scopes.map(
            ({ name, description }) =>
              html`<label class="check">
                <input type="checkbox" name="scope" value="${name}" ${isTicked(name) && html`checked`} />
                <span>${description} <code>${name}</code></span>
              </label>`,
          )}
        </fieldset>
        <p>
          The answer goes to <strong>${target.protocol}//${target.host}</strong>. The access ends on
          ${day.format(expiresAt)}, or when you end it.
        </p>
        ${
          isLocal &&
          html`<p role="alert">
            That is a program on the machine of your browser, and any program there could claim to be this
            one. Allow it only if you have just started it yourself.
          </p>`
        }
        <p class="links">
          <button name="decision" value="allow">Allow</button>
          <button name="decision" value="deny" class="plain">Deny</button>
        </p>
      </form>`,
  };
}

export const nothingAllowedPage: Page = {
  title: 'Nothing was allowed',
  body: html`<p>
    You can grant none of what this application asks for. Close this page, or ask an administrator.
  </p>`,
};
