import type { Prisma } from '../../resources.js';

export interface NewServiceCredential {
  readonly id: string;
  readonly clientId: string;
  readonly tokenHash: string;
  readonly expiresAt: Date;
}

export const insertServiceCredential = (db: Prisma, credential: NewServiceCredential): Promise<unknown> =>
  db.serviceCredential.create({ data: credential, select: { id: true } });
