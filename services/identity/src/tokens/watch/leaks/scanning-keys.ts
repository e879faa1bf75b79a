import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Variable } from '@platform/service-kit';
import { Type } from 'typebox';
import { Value } from 'typebox/value';

const PublishedKeys = Type.Object({
  public_keys: Type.Array(
    Type.Object({ key_identifier: Type.String({ minLength: 1, maxLength: 200 }), key: Type.String() }),
    { minItems: 1, maxItems: 20 },
  ),
});

/** The public keys of a secret scanner, by their identifiers. */
export type ScanningKeys = ReadonlyMap<string, KeyObject>;

function parseKeys(text: string): ScanningKeys | undefined {
  try {
    const published: unknown = JSON.parse(text);
    if (!Value.Check(PublishedKeys, published)) return undefined;
    const keys = new Map(
      published.public_keys.map(({ key_identifier: id, key }) => [id, createPublicKey(key)]),
    );
    const isP256 = (key: KeyObject) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return [...keys.values()].every(isP256) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** The document at https://api.github.com/meta/public_keys/secret_scanning, as it is. */
export const scanningKeys: Variable<ScanningKeys> = {
  mustBe: 'a JSON document {"public_keys": [{"key_identifier", "key"}]} with ECDSA P-256 keys in PEM',
  parse: parseKeys,
};
