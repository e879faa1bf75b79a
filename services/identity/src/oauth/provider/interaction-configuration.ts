import { type Configuration, interactionPolicy } from 'oidc-provider';
import { CONSENT_PATH } from './issuer.js';

/** Signs in and asks for consent every time: remembered consent lets any page on the web obtain a new token. */
function createPolicy(): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  return [
    new Prompt(
      { name: 'login', requestable: true },
      new Check(
        'no_session',
        'sign-in is required',
        'login_required',
        ({ oidc }) => !oidc.session?.accountId,
      ),
    ),
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('every_time', 'consent is required', 'consent_required', ({ oidc }) => !oidc.result?.consent),
    ),
  ];
}

/** The configuration of how a person answers an authorization request. */
export const createInteractionConfiguration = (): Pick<
  Configuration,
  'interactions' | 'loadExistingGrant'
> => ({
  interactions: {
    policy: createPolicy(),
    url: (_ctx, { uid }) => `${CONSENT_PATH}/${uid}`,
  },
  loadExistingGrant: async ({ oidc }) => {
    const grantId = oidc.result?.consent?.grantId;
    return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
  },
});
