import type { FormatDay } from '../../sign-in/page-kit/dates.js';
import { html, type Html } from '../../sign-in/page-kit/html.js';
import type { Page } from '../../sign-in/page-kit/page.js';
import { MCP_AUDIENCE } from '../provider/protected-resources.js';
import type { NamedBounds } from '../../credentials/bounds/bounds.js';
import { boundKinds, NOTHING } from './chosen-bounds.js';
import type { ConsentRequest } from './consent-request.js';

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

const boundsTexts = {
  servers: ['MCP servers', 'Tools of no server'],
  tools: ['Tools', 'No tool'],
  connectors: ['Connectors', 'No connector'],
} as const;

/** Returns the choice of what the connection is limited to. Nothing ticked is no limit. [OAUTH-27] */
function chooseBounds({ choices }: ConsentRequest, chosen: NamedBounds): Html | undefined {
  const kinds = boundKinds.filter((kind) => (choices[kind] ?? []).length > 0);
  if (kinds.length === 0) return undefined;
  return html`<details ${Object.keys(chosen).length > 0 && html`open`}>
    <summary>Limit it further</summary>
    <p class="quiet">Where you tick some, it can use these alone. Where you tick nothing, it can use all.</p>
    ${kinds.map((kind) => {
      const [title, nothing] = boundsTexts[kind];
      const ticked = chosen[kind];
      const box = (name: string, value: string, isTicked: boolean | undefined): Html =>
        html`<label class="check">
          <input type="checkbox" name="${kind}" value="${value}" ${isTicked === true && html`checked`} />
          <span>${name}</span>
        </label>`;
      return html`<fieldset>
        <legend>${title}</legend>
        ${(choices[kind] ?? []).map((name) => box(name, name, ticked?.includes(name)))}
        ${box(nothing, NOTHING, ticked?.length === 0)}
      </fieldset>`;
    })}
  </details>`;
}

/**
 * The page that asks a member what an application may do. It works without JavaScript.
 *
 * @param state - `ticked` are the scopes that the member had left ticked before; everything is, at first. `bounds` are those
 *   that the member had chosen.
 */
export function consentPage(
  request: ConsentRequest,
  member: { readonly email: string },
  {
    formToken,
    ticked,
    bounds,
    formatDay,
  }: {
    readonly formToken: Html;
    readonly formatDay: FormatDay;
    readonly ticked: readonly string[] | undefined;
    readonly bounds: NamedBounds;
  },
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
        ${chooseBounds(request, bounds)}
        <p>
          The answer goes to <strong>${target.protocol}//${target.host}</strong>. The access ends on
          ${formatDay(expiresAt)}, or when you end it.
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
