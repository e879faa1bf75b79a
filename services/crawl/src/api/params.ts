import { getAccount } from '@platform/auth';
import { type Connector, connectors, DEFAULT_INSTANCE } from '@platform/events';
import { validationError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { canonicalConnector } from '../domain/connectors.js';
import type { InstanceKey } from '../domain/instance-key.js';

export const base = '/api/v1/crawlingManager';

/** Any spelling that is accepted: in any case, with white space anywhere. */
const toSpellings = (name: string): string =>
  Array.from(name)
    .map((char) => (/[a-z]/.test(char) ? `[${char.toUpperCase()}${char}]` : char))
    .join(String.raw`\s*`);

/** Connectors of a kind differ in their digit. */
const kinds = [...new Set(connectors.map((name) => name.slice(0, -1)))];
const spellings = kinds.map((kind) => {
  const digits = connectors.filter((name) => name.startsWith(kind)).map((name) => name.at(-1));
  return String.raw`${toSpellings(kind)}\s*[${digits.join('')}]`;
});

/** A pattern rather than an enum, so that clients in typed languages can pass any text. */
export const documentedConnector = { pattern: String.raw`^\s*(${spellings.join('|')})\s*$` };

const connectorProperties = {
  connector: Type.String({
    description: `One of ${connectors.join(', ')}. Case does not count, spaces are dropped.`,
    'x-documented': documentedConnector,
  }),
};

export const InstanceSlug = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  maxLength: 50,
  description:
    'Which of the connectors of this type: lower-case letters, digits and hyphens. `default` is the one of the paths without it.',
});

const instanceProperties = { ...connectorProperties, instance: InstanceSlug };
export const InstancePath = Type.Object(instanceProperties);

export interface ConnectorParams {
  readonly connector: string;
  /** Undefined on the paths of the default instance. */
  readonly instance?: string;
}

const toParams =
  (properties: Type.TProperties) =>
  <P extends Type.TProperties>(own: P) =>
    Type.Unsafe<ConnectorParams & Type.Static<Type.TObject<P>>>(Type.Object({ ...properties, ...own }));

/**
 * The paths of a connector are those of its instance `default`; every other instance has the same ones below its own
 * path. A route that concerns an instance is registered with each of these.
 */
export const instanceRoutes = [
  {
    path: `${base}/:connector`,
    /** Returns the schema of the path's parameters. */
    params: toParams(connectorProperties),
    toOperationId: (name: string) => name,
  },
  {
    path: `${base}/:connector/instances/:instance`,
    params: toParams(instanceProperties),
    toOperationId: (name: string) => `${name}OfInstance`,
  },
] as const;
export type InstanceRoutes = (typeof instanceRoutes)[number];

/**
 * @param field - where the request names it.
 * @throws AppError 400 for an unknown connector.
 */
export function toConnector(params: { readonly connector: string }, field = 'connector'): Connector {
  const connector = canonicalConnector(params.connector);
  if (connector) return connector;
  const name = JSON.stringify(params.connector);
  const message = `is ${name}, which is not one of the connectors of this platform`;
  throw validationError([{ field, message }], 'Unknown connector');
}

/** @throws AppError 400 for an unknown connector. */
export const toInstanceKey = (request: FastifyRequest<{ Params: ConnectorParams }>): InstanceKey => ({
  orgId: getAccount(request).orgId,
  connector: toConnector(request.params),
  instance: request.params.instance ?? DEFAULT_INSTANCE,
});

/** The response of CRAWL-11 when there is no schedule; it has `data`, unlike other errors. */
export const noSchedule = {
  success: false,
  message: 'No scheduled job found for this connector',
  data: null,
} as const;
export const NoSchedule = Type.Object(
  { success: Type.Literal(false), message: Type.String(), data: Type.Null() },
  { title: 'NoSchedule' },
);
