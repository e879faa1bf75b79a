import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Credential, StoredPasskey } from './queries.js';
import type { RelyingParty } from './relying-party.js';
import type { PasskeyAssertion, PasskeyRegistration } from './schemas.js';

/*
 * The two ceremonies of WebAuthn (https://www.w3.org/TR/webauthn-3/): setting a passkey up (§7.1) and using it (§7.2).
 * Where a passkey comes after the password, the presence of the person is enough; where the device can verify the person,
 * browsers ask for it. A passkey that signs in alone counts for both factors, so that the device has to verify the person.
 */

/** Loads the library with the first passkey: it reads certificates of all kinds, which takes 20 MB of memory. */
async function loadLibrary() {
  const library = await import('@simplewebauthn/server');
  const helpers = await import('@simplewebauthn/server/helpers');
  const { EdDSA, ES256, RS256 } = helpers.COSEALG;
  // The same on every replica, whatever its runtime could verify beside them.
  return { ...library, ...helpers, algorithms: [EdDSA, ES256, RS256] };
}

const NAME = 'Workspace knowledge platform';
const TIMEOUT_MS = 5 * 60_000;
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'] as const;

const toTransports = (values: readonly string[] = []) =>
  TRANSPORTS.filter((transport) => values.includes(transport));

const toDescriptors = (passkeys: readonly Credential[]) =>
  passkeys.map(({ credentialId: id, transports }) => ({ id, transports: toTransports(transports) }));

/** The handle by which authenticators know the account. It is stored on devices, so it reveals nothing but a random id. */
const toUserHandle = (userId: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(userId.replaceAll('-', ''), 'hex'));

export async function createSetUpOptions(
  { id: rpID }: RelyingParty,
  account: { readonly userId: string; readonly email: string; readonly fullName: string },
  existing: readonly Credential[],
  challenge: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { algorithms, generateRegistrationOptions, isoBase64URL } = await loadLibrary();
  return generateRegistrationOptions({
    rpName: NAME,
    rpID,
    userName: account.email,
    userDisplayName: account.fullName,
    userID: toUserHandle(account.userId),
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: TIMEOUT_MS,
    supportedAlgorithmIDs: algorithms,
    // So that a device gets one passkey of an account.
    excludeCredentials: toDescriptors(existing),
  });
}

export async function createUseOptions(
  { id: rpID }: RelyingParty,
  passkeys: readonly Credential[],
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions, isoBase64URL } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID,
    allowCredentials: toDescriptors(passkeys),
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: TIMEOUT_MS,
  });
}

/**
 * Returns the options of a passkey that signs in alone: any that the device has stored for this site (a discoverable credential,
 * WebAuthn §6.2). They are written here, so that opening the page of the sign-in loads no library.
 */
export const createSignInOptions = ({ id: rpId }: RelyingParty, challenge: string): object => ({
  challenge,
  rpId,
  timeout: TIMEOUT_MS,
  userVerification: 'required',
  allowCredentials: [],
});

/**
 * Nobody asks for a statement about the authenticator, and browsers send none, or one signed with the passkey's own key.
 * Certificates are refused before anything parses them or follows the addresses in them.
 */
async function hasCertificates({ response }: PasskeyRegistration): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await loadLibrary();
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
    if (await hasCertificates(registration)) return undefined;
    const { algorithms, verifyRegistrationResponse } = await loadLibrary();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: registration as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
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
  expected: {
    readonly challenge: string;
    readonly userId: string;
    /** Whether the passkey signs in alone: it then names the account, and its device has verified the person. */
    readonly isAlone?: boolean;
  },
): Promise<bigint | undefined> {
  const { isoBase64URL, verifyAuthenticationResponse } = await loadLibrary();
  const { userHandle } = assertion.response;
  const { isAlone = false } = expected;
  if ((isAlone || userHandle) && userHandle !== isoBase64URL.fromBuffer(toUserHandle(expected.userId)))
    return undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion as unknown as AuthenticationResponseJSON,
      expectedChallenge: expected.challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: isAlone,
      // The caller compares the counters: a decrease is audited, unlike other faults.
      credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    });
    return verified ? BigInt(authenticationInfo.newCounter) : undefined;
  } catch {
    return undefined;
  }
}
