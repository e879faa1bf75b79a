import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { COSEALG, decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { Credential, StoredPasskey } from './queries.js';
import type { RelyingParty } from './relying-party.js';
import type { PasskeyAssertion, PasskeyRegistration } from './schemas.js';

/*
 * The two ceremonies of WebAuthn (https://www.w3.org/TR/webauthn-3/): setting a passkey up (§7.1) and using it (§7.2).
 * A passkey comes after the password here, so that the presence of the person is enough; where the device can verify the
 * person, browsers ask for it.
 */

const NAME = 'Workspace knowledge platform';
const TIMEOUT_MS = 5 * 60_000;
/** The same on every replica, whatever its runtime could verify beside them. */
const ALGORITHMS = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'] as const;

const toTransports = (values: readonly string[] = []) =>
  TRANSPORTS.filter((transport) => values.includes(transport));

const toDescriptors = (passkeys: readonly Credential[]) =>
  passkeys.map(({ credentialId: id, transports }) => ({ id, transports: toTransports(transports) }));

/** The handle by which authenticators know the account. It is stored on devices, so it reveals nothing but a random id. */
const toUserHandle = (userId: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(userId.replaceAll('-', ''), 'hex'));

export const createSetUpOptions = (
  { id: rpID }: RelyingParty,
  account: { readonly userId: string; readonly email: string; readonly fullName: string },
  existing: readonly Credential[],
  challenge: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> =>
  generateRegistrationOptions({
    rpName: NAME,
    rpID,
    userName: account.email,
    userDisplayName: account.fullName,
    userID: toUserHandle(account.userId),
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: TIMEOUT_MS,
    supportedAlgorithmIDs: ALGORITHMS,
    // So that a device gets one passkey of an account.
    excludeCredentials: toDescriptors(existing),
  });

export const createUseOptions = (
  { id: rpID }: RelyingParty,
  passkeys: readonly Credential[],
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> =>
  generateAuthenticationOptions({
    rpID,
    allowCredentials: toDescriptors(passkeys),
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: TIMEOUT_MS,
  });

/**
 * Nobody asks for a statement about the authenticator, and browsers send none, or one signed with the passkey's own key.
 * Certificates are refused before anything parses them or follows the addresses in them.
 */
function hasCertificates({ response }: PasskeyRegistration): boolean {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  return format !== 'none' && !isSelfSigned;
}

/** Returns the credential that a device has made for the challenge, or undefined when anything about it is wrong. */
export async function verifySetUp(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  registration: PasskeyRegistration,
  challenge: string,
): Promise<Credential | undefined> {
  try {
    if (hasCertificates(registration)) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: registration as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { id: credentialId, publicKey, counter } = registrationInfo.credential;
    const transports = toTransports(registration.response.transports);
    return { credentialId, publicKey, counter: BigInt(counter), transports };
  } catch {
    // The library throws at whatever the browser sent wrong.
    return undefined;
  }
}

/** @returns the signature counter of the device; undefined when anything about the answer is wrong. */
export async function verifyUse(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  assertion: PasskeyAssertion,
  passkey: StoredPasskey,
  expected: { readonly challenge: string; readonly userId: string },
): Promise<bigint | undefined> {
  const { userHandle } = assertion.response;
  if (userHandle && userHandle !== isoBase64URL.fromBuffer(toUserHandle(expected.userId))) return undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion as unknown as AuthenticationResponseJSON,
      expectedChallenge: expected.challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: false,
      // The caller compares the counters: a decrease is audited, unlike other faults.
      credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    });
    return verified ? BigInt(authenticationInfo.newCounter) : undefined;
  } catch {
    return undefined;
  }
}
