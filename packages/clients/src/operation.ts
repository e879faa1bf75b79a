/** A JSON Schema (draft 2020-12) as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of an object: parameters of one place, or a body. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** One operation of a service's OpenAPI document, as a client sees it: what has a default is optional. */
export interface Operation {
  readonly method: string;
  /** With `{name}` for each path parameter. */
  readonly path: string;
  readonly pathParameters?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly headers?: ObjectSchema;
  readonly body?: JsonSchema;
  /** Of success. */
  readonly status: number;
  /** The body of success; absent when there is none. */
  readonly answer?: JsonSchema;
}
