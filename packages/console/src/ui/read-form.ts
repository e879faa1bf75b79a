/** Reads a field, without blanks around its text. */
export const readText = (form: FormData, name: string): string => readExactText(form, name).trim();

/** Reads a field as it was typed, because blanks may belong to a password. */
export function readExactText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
