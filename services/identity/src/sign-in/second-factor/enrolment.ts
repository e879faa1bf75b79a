import type { SecondFactorContext } from './context.js';
import { enrolmentExpired, wrongFirstCode } from './errors.js';
import { findStep, generateSecret, isTotpCode, toUri } from './totp.js';

/*
 * The secret of an app that is being set up is stored nowhere: the client keeps it, sealed, until it confirms that the
 * app has it. It is sealed for the session or sign-in that has proven the first factor for it, so the confirmation needs
 * no other proof.
 */

const LIFETIME_MS = 10 * 60_000;

/** The data with which a person sets up an authenticator app. */
export interface Enrolment {
  /** In base32, to type it where there is no camera. */
  readonly secret: string;
  /** The content of the QR code. */
  readonly uri: string;
  /** The sealed secret, which the confirmation has to present. */
  readonly enrolment: string;
}

interface Holder {
  readonly userId: string;
  /** The session, or the pending sign-in, that set the app up. */
  readonly holder: string;
}

const toContext = ({ userId, holder }: Holder): string => `totp-enrolment:${userId}:${holder}`;

interface Label {
  readonly issuer: string;
  readonly account: string;
}
type EnrolmentContext = Pick<SecondFactorContext, 'box' | 'clock'>;

function openEnrolment({ box, clock }: EnrolmentContext, holder: Holder, enrolment: string): string {
  let opened: string;
  try {
    opened = box.open(enrolment, toContext(holder));
  } catch {
    throw enrolmentExpired();
  }
  const [secret = '', expiresAt] = opened.split(' ');
  if (Number(expiresAt) <= clock()) throw enrolmentExpired();
  return secret;
}

/**
 * Begins an enrolment, or shows one again.
 *
 * @throws AppError 400 ENROLMENT_EXPIRED for an expired enrolment that is shown again.
 */
export function showEnrolment(
  ctx: EnrolmentContext,
  holder: Holder,
  label: Label,
  begun?: string,
): Enrolment {
  const secret = begun === undefined ? generateSecret() : openEnrolment(ctx, holder, begun);
  const enrolment = begun ?? ctx.box.seal(`${secret} ${ctx.clock() + LIFETIME_MS}`, toContext(holder));
  return { secret, uri: toUri(secret, label), enrolment };
}

/** @returns the secret, and the time step of the code. @throws AppError 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID. */
export function confirmEnrolment(
  ctx: EnrolmentContext,
  holder: Holder,
  { enrolment, code }: { readonly enrolment: string; readonly code: string },
): { readonly secret: string; readonly step: number } {
  const secret = openEnrolment(ctx, holder, enrolment);
  const typed = code.replaceAll(/\s/g, '');
  const step = isTotpCode(typed) ? findStep(secret, typed, ctx.clock()) : undefined;
  if (step === undefined) throw wrongFirstCode();
  return { secret, step };
}
