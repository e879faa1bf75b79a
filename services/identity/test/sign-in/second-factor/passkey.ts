import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type IdentityUnderTest, type Member } from '../../identity.js';

/*
 * An authenticator in software (WebAuthn §6), as honest or hostile as a test wants it. The tests of the pages use the one of
 * Chromium.
 */

/** The origin that belongs to the default PUBLIC_URL. */
const ORIGIN = 'http://localhost:8080';
const OWN = '/api/v1/auth/second-factor';
const LOGIN = '/api/v1/auth/login/second-factor';

type Client = Pick<IdentityUnderTest, 'call'>;
interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

/** The changes of a test to an answer. */
export interface Forged {
  readonly origin?: string;
  readonly type?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Whether the device says that it has verified the person. */
  readonly isVerified?: boolean;
  /** A statement with a certificate. */
  readonly hasCertificate?: boolean;
}

const toBase64Url = (bytes: Buffer): string => bytes.toString('base64url');
const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

const toClientData = (type: string, challenge: string, origin: string): string =>
  toBase64Url(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })));

/** CBOR (RFC 8949), as far as an attestation needs it. */
function toHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  return length < 256
    ? Buffer.from([(major << 5) | 24, length])
    : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}
const toText = (text: string): Buffer => Buffer.concat([toHead(3, text.length), Buffer.from(text)]);
const toBytes = (bytes: Buffer): Buffer => Buffer.concat([toHead(2, bytes.length), bytes]);

function toCoseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const head = Buffer.from('a5010203262001', 'hex');
  const [left, right] = [x, y].map((part) => toBytes(Buffer.from(part, 'base64url')));
  return Buffer.concat([head, Buffer.from([0x21]), left ?? head, Buffer.from([0x22]), right ?? head]);
}

export interface SoftPasskey {
  readonly id: string;
  register(options: Options, forged?: Forged): object;
  /** The counter rises with each use. */
  use(options: Options, forged?: Forged): object;
}

export function createPasskey({ hasCounter = true } = {}): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rawId = randomBytes(32);
  const id = toBase64Url(rawId);
  let uses = 0;
  let handle: string | undefined;

  function toAuthenticatorData(
    rpId: string,
    counter: number,
    { credential, isVerified = true }: { credential?: Buffer; isVerified?: boolean | undefined } = {},
  ): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = Buffer.from([(credential ? 0x41 : 0x01) | (isVerified ? 0x04 : 0)]);
    return Buffer.concat([sha256(rpId), flags, count, ...(credential ? [credential] : [])]);
  }
  const nextCounter = () => (hasCounter ? ++uses : 0);

  return {
    id,
    register({ challenge, rp, user }, forged = {}) {
      handle = user?.id;
      const length = Buffer.from([0, rawId.length]);
      const credential = Buffer.concat([Buffer.alloc(16), length, rawId, toCoseKey(publicKey)]);
      const rpId = forged.rpId ?? rp?.id ?? '';
      const authData = toAuthenticatorData(rpId, forged.counter ?? nextCounter(), { credential });
      const statement = forged.hasCertificate
        ? [toText('packed'), toText('attStmt'), toHead(5, 3), toText('alg'), Buffer.from([0x26]), toText('sig'), toBytes(Buffer.alloc(70)), toText('x5c'), toHead(4, 1), toBytes(Buffer.alloc(300))]
        : [toText('none'), toText('attStmt'), toHead(5, 0)]; // oxfmt-ignore
      const attestation = [toHead(5, 3), toText('fmt'), ...statement, toText('authData'), toBytes(authData)];
      const type = forged.type ?? 'webauthn.create';
      const clientDataJSON = toClientData(type, forged.challenge ?? challenge, forged.origin ?? ORIGIN);
      const attestationObject = toBase64Url(Buffer.concat(attestation));
      const response = { clientDataJSON, attestationObject, transports: ['internal'] };
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
    },
    use({ challenge, rpId }, forged = {}) {
      const type = forged.type ?? 'webauthn.get';
      const clientDataJSON = toClientData(type, forged.challenge ?? challenge, forged.origin ?? ORIGIN);
      const counter = forged.counter ?? nextCounter();
      const { isVerified } = forged;
      const authenticatorData = toAuthenticatorData(forged.rpId ?? rpId ?? '', counter, { isVerified });
      const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
      const response = {
        clientDataJSON,
        authenticatorData: toBase64Url(authenticatorData),
        signature: toBase64Url(sign('sha256', signed, privateKey)),
        userHandle: forged.userHandle ?? handle,
      };
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
    },
  };
}

/** Begins to set a passkey up in the session; `proof` is the factor that the account has. */
export const beginPasskey = ({ call }: Client, token: string, proof: object = {}) =>
  call('POST', `${OWN}/passkey-creation-options`, { token, body: proof });

export const confirmPasskey = ({ call }: Client, token: string, body: object) =>
  call('POST', `${OWN}/passkeys`, { token, body });

/** Sets a passkey up for the member of the session. */
export async function addPasskey(
  client: Client,
  token: string,
  proof: object = {},
  passkey = createPasskey(),
) {
  const begun = await beginPasskey(client, token, proof);
  if (begun.status !== 200) throw new Error(`the set-up answered ${begun.status}: ${begun.text}`);
  const confirmed = await confirmPasskey(client, token, {
    name: 'My key',
    registration: passkey.register(begun.body as Options),
  });
  if (confirmed.status !== 200)
    throw new Error(`confirmation answered ${confirmed.status}: ${confirmed.text}`);
  return {
    passkey,
    options: begun.body as Options,
    recoveryCodes: confirmed.body.recoveryCodes as string[] | null,
  };
}

/** Proves the session's member by the passkey. */
export async function prove({ call }: Client, token: string, passkey: SoftPasskey): Promise<object> {
  const { status, text, body } = await call('POST', `${OWN}/passkey-options`, { token });
  if (status !== 200) throw new Error(`the options answered ${status}: ${text}`);
  return { passkey: passkey.use(body as Options) };
}

/** Asks for a passkey in a sign-in under way. */
export const askPasskey = ({ call }: Client, challenge: string) =>
  call('POST', `${LOGIN}/passkey-options`, { body: { challenge } });

export const sendPasskey = ({ call }: Client, challenge: string, passkey: object) =>
  call('POST', LOGIN, { body: { challenge, passkey } });

/** Answers a sign-in under way with the passkey. */
export async function signInWith(client: Client, challenge: string, passkey: SoftPasskey, forged?: Forged) {
  const { body } = await askPasskey(client, challenge);
  return sendPasskey(client, challenge, passkey.use(body as Options, forged));
}

export const removePasskey = (
  { call }: Client,
  member: Pick<Member, 'session'>,
  id: string,
  proof: object = {},
) => call('POST', `${OWN}/passkeys/${id}/remove`, { token: member.session, body: proof });
