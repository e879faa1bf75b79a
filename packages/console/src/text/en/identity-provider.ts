import { createTexts } from '../isolate.ts';

/** By the code of the platform, which may have more. */
const faults: Readonly<Record<string, string>> = {
  no_address:
    'Its host has no address that may be called. Check the name; a private address has to be allowed by the operator of the platform.',
  unreachable: 'It does not accept connections.',
  disconnected: 'It broke the connection.',
  certificate: 'Its TLS certificate is not valid.',
  redirect: 'It redirects to another address: enter that one, if you trust it.',
  http_error: 'It has no metadata below the issuer.',
  timeout: 'It does not answer in time.',
  too_large: 'Its answer is too large.',
  invalid_answer: 'Its answer is not what OpenID Connect prescribes.',
  invalid_metadata: 'Its metadata lack an endpoint, or name one without HTTPS.',
  other_issuer: 'Its metadata name another issuer: copy the issuer exactly.',
};

/** The texts of an organisation's own identity provider. */
export const identityProvider = createTexts({
  title: 'Identity provider',
  none: 'No provider is set up',
  setUpFirst: 'Set up a provider',
  noneHint:
    'Members can sign in with your own OpenID Connect provider: Keycloak, Entra ID, Google, Okta and others.',
  setUp: 'Set up…',
  change: 'Change…',
  remove: 'Remove…',
  facts: {
    issuer: 'Issuer',
    client: 'Client id',
    secret: 'Client secret',
    secretSet: 'Set',
    secretNone: 'None: PKCE alone',
    membership: 'Who gets in',
    invited: 'Members only',
    everyone: 'Everybody of the verified domains, as a member',
    required: 'Passwords',
    passwordsWork: 'Members can also use their password',
    passwordsEnd: 'Members of the verified domains use the provider only',
    factor: 'Second factor',
    factorOwn: 'Asked for here, whatever the provider says',
    factorTrusted: (values: string) => `Not asked for again when the provider says ${values}`,
    redirect: 'Redirect URI',
  },
  form: {
    setUpTitle: 'Set up your identity provider',
    changeTitle: 'Change your identity provider',
    redirectHint: 'Register this redirect URI at the provider:',
    issuer: 'Issuer',
    issuerHint: 'Such as https://login.example.com/realms/staff',
    client: 'Client id',
    secret: 'Client secret',
    secretHint: 'Leave it empty for a client without one.',
    removeSecret: 'Remove the stored secret',
    factor: 'Values that count as a second factor',
    factorHint:
      'Values of amr or acr, such as mfa, separated by blanks. Empty: the platform asks for its own.',
    options: 'Who signs in',
    justInTime: 'Just-in-time membership',
    justInTimeHint: 'People of the verified domains become members when they first sign in.',
    required: 'Require the provider',
    requiredHint: 'Members of the verified domains can no longer use passwords, codes or invitation links.',
    submit: 'Save',
    saved: (ended: number) =>
      ended === 0
        ? 'The identity provider is saved.'
        : `The identity provider is saved, and ${ended === 1 ? 'one session has' : `${ended} sessions have`} ended.`,
  },
  removal: {
    title: 'Remove the identity provider?',
    warning:
      'The sessions that it opened end at once. Members who never chose a password choose one with “Forgot the password?”.',
    submit: 'Remove it',
    done: 'The identity provider is removed.',
  },
  member: {
    action: 'Disconnect from the identity provider…',
    title: (name: string) => `Disconnect ${name} from the identity provider?`,
    warning:
      'The sessions that the provider opened end at once. The next sign-in with their e-mail address connects the account again, also when their identity at the provider is a new one.',
    submit: 'Disconnect',
    done: (name: string) => `${name} is disconnected from the identity provider.`,
  },
  test: {
    submit: 'Test',
    works: 'It works',
    fails: 'It cannot be used',
    faults,
    status: (code: number) => `HTTP ${code}`,
  },
  domains: {
    title: 'Domains',
    hint: 'The provider signs in people whose e-mail address is in a verified domain.',
    none: 'No domain yet',
    addFirst: 'Add the first domain',
    noneHint: 'Without a verified domain, nobody signs in with the provider.',
    add: 'Add a domain…',
    addTitle: 'Add a domain',
    name: 'Domain',
    nameHint: 'What follows the @ of your e-mail addresses, such as example.com',
    addSubmit: 'Add',
    added: 'The domain is added. Create its DNS record, then verify it.',
    verified: 'Verified',
    unverified: 'Not verified',
    create: 'Create this TXT record, then verify the domain:',
    recordName: 'Name of the record',
    recordValue: 'Value of the record',
    verify: 'Verify',
    verifyOne: (domain: string) => `Verify ${domain}`,
    nowVerified: (domain: string) => `${domain} is verified.`,
    remove: 'Remove…',
    removeOne: (domain: string) => `Remove ${domain}…`,
    removeTitle: (domain: string) => `Remove ${domain}?`,
    removeWarning: 'Its members can no longer sign in with the provider.',
    removeSubmit: 'Remove it',
    removed: 'The domain is removed.',
  },
});
