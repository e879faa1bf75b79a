/** What is typed in a field, without blanks around it. */
export const readText = (form: FormData, name: string): string => readExactText(form, name).trim();

/** What is typed in a field; blanks may belong to a password. */
export function readExactText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
