/*
 * The operations that are dangerous in the session of a browser (AUTH-41): they give somebody power that outlasts the
 * session, or take from other people what cannot be given back. Every other operation that changes something stands in
 * the test of this list, with the reason why it is none.
 */

/** The parts of a request that decide; nothing has validated them yet. */
export interface UnvalidatedRequest {
  readonly body: unknown;
  readonly query: unknown;
}

/** Returns whether this request is dangerous; what it cannot read is. */
export type IsDangerous = (request: UnvalidatedRequest) => boolean;

const always: IsDangerous = () => true;

/** Anything but a request that names the dry run once. */
const unlessDryRun: IsDangerous = ({ query }) =>
  !(typeof query === 'object' && query !== null && 'dryRun' in query && query.dryRun === 'true');

/** A request that names the field. */
const withField =
  (field: string): IsDangerous =>
  ({ body }) =>
    typeof body !== 'object' || body === null || field in body;

export const dangerousOperations: ReadonlyMap<string, IsDangerous> = new Map([
  // Members
  ['createUser', always],
  ['repeatInvitation', always],
  ['changeUser', withField('role')],
  ['removeUser', always],
  ['resetUserSecondFactor', always],
  ['unlinkIdentityProvider', always],
  // Tokens
  ['createToken', always],
  ['rotateToken', always],
  ['revokeOrganisationToken', always],
  ['saveTokenPolicy', unlessDryRun],
  // Service accounts and applications
  ['createServiceAccount', always],
  ['changeServiceAccount', always],
  ['removeServiceAccount', always],
  ['createServiceAccountToken', always],
  ['createOAuthApplication', always],
  ['changeOAuthApplication', always],
  ['removeOAuthApplication', always],
  ['createOAuthApplicationSecret', always],
  ['revokeOAuthApplicationSecret', always],
  ['revokeOrganisationConnectedApp', always],
  ['saveConnectionPolicy', unlessDryRun],
  // What the organisation's mail, sign-in and agents depend on
  ['saveSmtpConfig', always],
  ['removeSmtpConfig', always],
  ['saveSignInConfig', always],
  ['verifyIdentityDomain', always],
  ['removeIdentityDomain', always],
  ['createMcpServer', always],
  ['changeMcpServer', always],
  ['removeMcpServer', always],
  ['decideOnMcpTools', always],
]);
