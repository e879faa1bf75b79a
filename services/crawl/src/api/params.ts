import { type Connector, connectors } from '@platform/events';
import { type AppError, validationError } from '@platform/service-kit';
import { Type } from 'typebox';
import { canonicalConnector } from '../domain/connectors.js';

export const base = '/api/v1/crawlingManager';

export const ConnectorPath = Type.Object({
  connector: Type.String({
    description: `One of ${connectors.join(', ')}. Case does not count, spaces are dropped.`,
  }),
});

const unknownConnector = (): AppError =>
  validationError(
    [{ field: 'connector', message: 'is not one of the connectors of this platform' }],
    'Unknown connector',
  );

export type ConnectorPath = Type.Static<typeof ConnectorPath>;

/** @throws AppError 400 for an unknown connector. */
export function toConnector(params: ConnectorPath): Connector {
  const connector = canonicalConnector(params.connector);
  if (!connector) throw unknownConnector();
  return connector;
}

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
