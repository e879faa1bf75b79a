interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string | null }): unknown;
}

/**
 * Lets scripts assign an empty text as HTML, and nothing else: that is how react-aria empties the region in which it
 * announces. The content security policy allows this policy only.
 */
export function allowEmptyHtml(): void {
  const { trustedTypes }: { trustedTypes?: TrustedTypes } = window as object;
  trustedTypes?.createPolicy('default', { createHTML: (html) => (html === '' ? html : null) });
}
