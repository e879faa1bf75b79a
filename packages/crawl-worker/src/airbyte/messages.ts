import { parse, stringify } from 'lossless-json';

/*
 * The messages of the Airbyte protocol that a reader needs. Sources of every age are read, so nothing but `type` is relied
 * on; see https://docs.airbyte.com/understanding-airbyte/airbyte-protocol.
 */

export interface StreamDescriptor {
  readonly name: string;
  readonly namespace?: string | null;
}

export interface StreamInfo extends StreamDescriptor {
  readonly json_schema: JsonSchema;
  readonly supported_sync_modes?: readonly ('full_refresh' | 'incremental')[] | null;
  readonly default_cursor_field?: readonly string[] | null;
  readonly source_defined_primary_key?: readonly (readonly string[])[] | null;
}

/** The part of a JSON schema that names fields. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly airbyte_secret?: boolean;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
}

export interface RecordMessage {
  readonly type: 'RECORD';
  readonly record: {
    readonly stream: string;
    readonly namespace?: string | null;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

export interface StateMessage {
  readonly type: 'STATE';
  readonly state: {
    readonly type?: 'STREAM' | 'GLOBAL' | 'LEGACY' | null;
    readonly stream?: { readonly stream_descriptor: StreamDescriptor };
    readonly data?: unknown;
  };
}

export interface LogMessage {
  readonly type: 'LOG';
  readonly log: { readonly level: string; readonly message: string };
}

export interface SourceFault {
  readonly message: string;
  readonly internal_message?: string | null;
  readonly failure_type?: 'config_error' | 'system_error' | 'transient_error' | null;
  readonly stream_descriptor?: StreamDescriptor | null;
}

export interface TraceMessage {
  readonly type: 'TRACE';
  readonly trace: {
    readonly type: string;
    readonly error?: SourceFault;
    readonly estimate?: {
      readonly name: string;
      readonly namespace?: string | null;
      readonly type: 'STREAM' | 'SYNC';
      readonly row_estimate?: number | null;
    };
    readonly stream_status?: {
      readonly stream_descriptor: StreamDescriptor;
      readonly status: string;
    };
  };
}

export interface SpecMessage {
  readonly type: 'SPEC';
  readonly spec: { readonly connectionSpecification: JsonSchema };
}

export interface ConnectionStatusMessage {
  readonly type: 'CONNECTION_STATUS';
  readonly connectionStatus: { readonly status: string; readonly message?: string | null };
}

export interface CatalogMessage {
  readonly type: 'CATALOG';
  readonly catalog: { readonly streams: readonly StreamInfo[] };
}

export type Message =
  | RecordMessage
  | StateMessage
  | LogMessage
  | TraceMessage
  | SpecMessage
  | ConnectionStatusMessage
  | CatalogMessage;

/** @returns undefined for a line that is no message. Programs print other things, too. */
export function parseMessage(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    const isMessage = typeof message === 'object' && message !== null && 'type' in message;
    return isMessage ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the state of a line as JSON, with every number as the source has written it, whatever its size. */
export function readStateText(line: string): string {
  const { state } = parse(line) as { state: { type?: string; data?: unknown } };
  return stringify(isLegacy(state) ? state.data : state) ?? 'null';
}

/** A state without a type is of the oldest protocol: one value for all streams. */
export const isLegacy = (state: { readonly type?: string | null }): boolean =>
  state.type === undefined || state.type === null || state.type === 'LEGACY';

/** Names a stream in keys and logs. */
export const toStreamName = ({ name, namespace }: StreamDescriptor): string =>
  namespace ? `${namespace}.${name}` : name;
