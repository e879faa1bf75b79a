import { digestOf, type UserPrincipal } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../resources.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { SigningKeys, SignJwt } from '../signing-keys/service.js';
import { findUserByEmail } from '../users/queries.js';
import { normaliseEmail } from '../users/service.js';
import { wrongCredentials } from './errors.js';
import type { LoginLimits } from './login-limits.js';
import type { Passwords } from './passwords.js';
import { endSession, insertSession } from './queries.js';
import type { LoginAnswer, LoginBody } from './schemas.js';

const SESSION_SECONDS = 24 * 60 * 60;

export interface SessionService {
  /** @throws AppError 401 for a wrong pair, 429 after too many of them. */
  login(body: LoginBody, address: string): Promise<LoginAnswer>;
  /** Ends the session at once; does nothing to a token. */
  logout(principal: UserPrincipal): Promise<void>;
}

export function createSessionService(deps: {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly limits: LoginLimits;
  readonly keys: SigningKeys;
  readonly signJwt: SignJwt;
  readonly clock: Clock;
}): SessionService {
  const { prisma, passwords, limits, keys, signJwt, clock } = deps;
  return {
    async login(body, address) {
      const email = normaliseEmail(body.email);
      await limits.begin(email, address);
      const found = await findUserByEmail(prisma, email);
      const isRight = await passwords.verify(found?.passwordHash, body.password);
      if (!found || !isRight) throw wrongCredentials();
      const { passwordHash: _kept, ...user } = found;
      const now = clock();
      const issuedAt = Math.floor(now / 1_000);
      const expiresAt = new Date((issuedAt + SESSION_SECONDS) * 1_000);
      const id = uuidv7();
      const claims = { sub: user.id, org: user.orgId, jti: id, kind: 'session' as const, iat: issuedAt };
      const { token } = keys.mint({ ...claims, exp: issuedAt + SESSION_SECONDS }, signJwt);
      await prisma.$transaction(async (tx) => {
        const session = { id, orgId: user.orgId, userId: user.id, tokenHash: digestOf(token) };
        await insertSession(tx, { ...session, createdAt: new Date(now), expiresAt });
        await insertAuditEntry(tx, {
          orgId: user.orgId,
          action: 'session.created',
          actorId: user.id,
          subjectId: id,
          detail: { address },
          at: new Date(now),
        });
      });
      await limits.succeed(email, address);
      return {
        accessToken: token,
        tokenType: 'Bearer',
        expiresIn: SESSION_SECONDS,
        expiresAt: expiresAt.toISOString(),
        user,
      };
    },

    async logout({ orgId, userId, credentialId }) {
      const at = new Date(clock());
      await prisma.$transaction(async (tx) => {
        if ((await endSession(tx, orgId, credentialId, at)) > 0)
          await insertAuditEntry(tx, {
            orgId,
            action: 'session.ended',
            actorId: userId,
            subjectId: credentialId,
            at,
          });
      });
    },
  };
}
