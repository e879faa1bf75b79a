import { hash } from 'node:crypto';

/** Hashes a subject, so that the table reveals no addresses or tokens and an e-mail of any length fits the column. */
export const toKey = (subject: string): string => hash('sha256', subject, 'base64url');
