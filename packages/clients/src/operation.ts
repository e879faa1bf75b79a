/** A JSON Schema (draft 2020-12), the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of an object, which is a body or all parameters of one kind. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** A successful response of an operation. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** The schema of the body; absent when there is no body. */
  readonly schema?: JsonSchema;
}

/** Where an operation is. */
export interface Route {
  readonly method: string;
  /** The path template, with `{name}` for each parameter. */
  readonly path: string;
}

/** One operation of a service's OpenAPI document from the client's side: properties with a default are optional. */
export interface Operation extends Route {
  readonly pathParameters?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly headers?: ObjectSchema;
  readonly body?: JsonSchema;
  /** The successful responses; the first has the lowest status. */
  readonly answers: readonly [Answer, ...Answer[]];
}
