/** A part of a text. Only links have a target. */
export type Inline =
  | string
  | { readonly is: 'strong' | 'em' | 'code'; readonly of: readonly Inline[] }
  | { readonly is: 'link'; readonly to: string; readonly of: readonly Inline[] };

/** What a guide consists of. */
export type Block =
  | {
      readonly is: 'heading';
      readonly depth: number;
      readonly anchor: string;
      readonly of: readonly Inline[];
    }
  | { readonly is: 'paragraph'; readonly of: readonly Inline[] }
  | { readonly is: 'code'; readonly text: string }
  | { readonly is: 'quote'; readonly of: readonly Block[] }
  | { readonly is: 'list' | 'steps'; readonly of: readonly (readonly Block[])[] }
  | {
      readonly is: 'table';
      readonly header: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

export interface Guide {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface GuideTitle {
  readonly id: string;
  readonly title: string;
}
