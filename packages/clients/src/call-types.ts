/** The shape that openapi-typescript gives to one operation in the `operations` of a document. */
interface GeneratedOperation {
  readonly parameters: {
    readonly path?: unknown;
    readonly query?: unknown;
    readonly header?: unknown;
  };
  readonly requestBody?: { readonly content: unknown } | undefined;
  readonly responses: unknown;
}

type Given<Key extends string, Value> = [Value] extends [never]
  ? unknown
  : [Value] extends [undefined]
    ? unknown
    : undefined extends Value
      ? { readonly [K in Key]?: Exclude<Value, undefined> }
      : { readonly [K in Key]: Value };

type Parameter<
  O extends GeneratedOperation,
  Place extends 'path' | 'query' | 'header',
> = O['parameters'][Place];

type JsonOf<Content> = Content extends { readonly 'application/json': infer Json } ? Json : never;

/** Undefined is a part of the type of a body that may be left out. */
type BodyOf<O extends GeneratedOperation> =
  | (NonNullable<O['requestBody']> extends { readonly content: infer Content } ? JsonOf<Content> : never)
  | Extract<O['requestBody'], undefined>;

/** The input of a call of the operation. */
export type CallInput<O extends GeneratedOperation> = Given<'path', Parameter<O, 'path'>> &
  Given<'query', Parameter<O, 'query'>> &
  Given<'headers', Parameter<O, 'header'>> &
  Given<'body', BodyOf<O>>;

type SuccessOf<Responses> = Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>];

/** What a body of one of the media types is read as: JSON in any form of its type, or text. */
type Read<Content> = {
  [Type in keyof Content]: Type extends `application/${string}json` ? Content[Type] : string;
}[keyof Content];
type ReadBody<Response> = Response extends { readonly content: infer Content } ? Read<Content> : undefined;

/** The body of the operation's success; undefined is a part of it when there may be none. */
export type CallResult<O extends GeneratedOperation> = ReadBody<SuccessOf<O['responses']>>;

/** Any of the generated `operations`. */
export type Operations<T> = { readonly [Id in keyof T]: GeneratedOperation };
