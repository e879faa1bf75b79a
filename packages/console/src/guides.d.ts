/** The guides, by their titles: the build reads them from docs/connect. */
declare module 'virtual:guides' {
  export const guides: readonly { readonly id: string; readonly title: string }[];
}
