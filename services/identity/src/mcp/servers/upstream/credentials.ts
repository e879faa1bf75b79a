import type { Clock, SecretBox } from '@platform/service-kit';
import { v4 as uuidv4 } from 'uuid';
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
}

export interface ServerCredential extends RequestedClaims {
  readonly id: string;
  readonly orgId: string;
  readonly url: string;
  /** `none`, `secret` or `assertion`. */
  readonly credential: string;
  readonly secretHeader: string | null;
  readonly secretSealed: string | null;
}

/** Signs the claims of a JWT with the platform's active key. */
export type SignClaims = (claims: object) => Promise<string>;
/** Returns the headers that identify a caller to a server. The caller's own token is never among them. */
export type CreateHeaders = (
  server: ServerCredential,
  subject: Subject | undefined,
) => Promise<Readonly<Record<string, string>>>;

/** The context that binds a sealed secret to its server. */
export const serverSecretContext = (serverId: string): string => `mcp-server-secret:${serverId}`;

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
    const { secretHeader, secretSealed } = server;
    if (secretHeader === null || secretSealed === null) return {};
    return { [secretHeader]: box.open(secretSealed, serverSecretContext(server.id)) };
  };
}
