import type { SecretBox } from '@platform/service-kit';

/** Seals a value as JSON. The context names what it is and where it is stored, such as `request <id of the mail>`. */
export const sealJson = (box: SecretBox, value: object, context: string): string =>
  box.seal(JSON.stringify(value), context);

/** @returns the value, or undefined when no key opens it, or when it or its context was altered. */
export function openJson(box: SecretBox, sealed: string, context: string): unknown {
  let text: string;
  try {
    text = box.open(sealed, context);
  } catch {
    return undefined;
  }
  return JSON.parse(text) as unknown;
}
