import type { Clock, SecretBox } from '@platform/service-kit';
import { v4 as uuidv4 } from 'uuid';
import { parseGrant } from './oauth/grant.js';
import type { KnowledgeScope } from '../gate.js';
import type { PersonClaims, RequestedClaims } from '../person-claims.js';

/**
 * The member for whom a server is called. Undefined stands for the platform, which lists tools for nobody in
 * particular.
 */
export interface Subject {
  readonly userId: string;
  /** The knowledge scopes that the caller's credential grants. */
  readonly scopes: readonly KnowledgeScope[];
  /** What else the server is told of the member. */
  readonly claims: PersonClaims;
  /** The account's own credential at a server that asks for one; undefined at any other. */
  readonly own?: OwnCredential;
}

/** An account's own credential at a server. */
export interface OwnCredential {
  /** Another secret has another id. */
  readonly id: string;
  readonly secretSealed: string;
}

export interface ServerCredential extends RequestedClaims {
  readonly id: string;
  readonly orgId: string;
  readonly url: string;
  /** `none`, `secret`, `assertion`, `personal` or `oauth`. */
  readonly credential: string;
  readonly secretHeader: string | null;
  /** Of `personal`, what the platform lists the tools with, if an administrator has given that; of `oauth`, its client. */
  readonly secretSealed: string | null;
  /** What stands before each secret of `personal`; null for any other. */
  readonly secretPrefix: string | null;
}

/** Whether each account calls the server with a credential of its own, so that nothing of its calls is shared. */
export const isPerAccount = ({ credential }: Pick<ServerCredential, 'credential'>): boolean =>
  credential === 'personal' || credential === 'oauth';

/** Signs the claims of a JWT with the platform's active key. */
export type SignClaims = (claims: object) => Promise<string>;
/** Returns the headers that identify a caller to a server. The caller's own token is never among them. */
export type CreateHeaders = (
  server: ServerCredential,
  subject: Subject | undefined,
) => Promise<Readonly<Record<string, string>>>;

/** The context that binds a sealed secret to its server. */
export const serverSecretContext = (serverId: string): string => `mcp-server-secret:${serverId}`;
/** The context that binds a sealed secret to its server and account. */
export const ownSecretContext = (serverId: string, accountId: string): string =>
  `mcp-credential:${serverId}:${accountId}`;
/** The context that binds what a sign-in in progress has to remember to it. */
export const signInContext = (stateHash: string): string => `mcp-sign-in:${stateHash}`;

const ASSERTION_SECONDS = 60;

export function createCredentialHeaders(deps: {
  readonly box: SecretBox;
  readonly signClaims: SignClaims;
  readonly clock: Clock;
}): CreateHeaders {
  const { box, signClaims, clock } = deps;
  /**
   * An identity assertion in the form of RFC 7523: the audience is the server's URL as it was configured. It is no
   * credential of the platform itself, because it names no kind of one and is not stored.
   */
  async function createAssertion(
    { url: aud, orgId: org }: ServerCredential,
    subject: Subject | undefined,
  ): Promise<string> {
    const iat = Math.floor(clock() / 1_000);
    const scope = subject?.scopes.join(' ') ?? '';
    // oxfmt-ignore
    return signClaims({
      ...subject?.claims, aud, sub: subject?.userId ?? org, org, scope, iat, exp: iat + ASSERTION_SECONDS, jti: uuidv4(),
    });
  }
  return async (server, subject) => {
    if (server.credential === 'assertion')
      return { authorization: `Bearer ${await createAssertion(server, subject)}` };
    const { id, secretHeader, secretSealed, secretPrefix } = server;
    if (server.credential === 'oauth') {
      if (!subject?.own) throw new Error('a server is called with the tokens of an account');
      const grant = parseGrant(box.open(subject.own.secretSealed, ownSecretContext(id, subject.userId)));
      return { authorization: `Bearer ${grant.tokens.access_token}` };
    }
    if (secretHeader === null) return {};
    // The platform's own secret lists tools. It is never what somebody calls with.
    if (isPerAccount(server) && subject) {
      if (!subject.own) throw new Error('a call needs the own credential of its account');
      const secret = box.open(subject.own.secretSealed, ownSecretContext(id, subject.userId));
      return { [secretHeader]: `${secretPrefix}${secret}` };
    }
    if (secretSealed === null) return {};
    return { [secretHeader]: `${secretPrefix ?? ''}${box.open(secretSealed, serverSecretContext(id))}` };
  };
}
