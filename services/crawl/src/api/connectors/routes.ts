import { connectors, toEventType } from '@platform/events';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { connectorKinds } from '../../domain/connectors.js';
import { administrators, checksBounds, toConnectorFilter } from '../authority.js';
import { base } from '../params.js';
import { errorResponses, successResponse } from '../responses.js';

const ConnectorItem = Type.Object(
  {
    connector: Type.String({ description: 'The identifier.' }),
    kind: Type.String({ description: 'What it connects to.' }),
    eventType: Type.String({ description: 'The sync event of a completed crawl.' }),
  },
  { title: 'Connector' },
);

const data = connectors.map((connector) => ({
  connector,
  kind: connectorKinds[connector],
  eventType: toEventType(connector),
}));

/** The routes are for administrators with `crawl:read`. */
export function connectorRoutes(app: App): void {
  app.get(
    `${base}/connectors`,
    {
      onRequest: administrators(app, 'crawl:read', checksBounds),
      schema: {
        operationId: 'listConnectors',
        tags: ['Connectors'],
        summary: 'All connectors that can be crawled',
        description:
          'Has all kinds of connectors that can be scheduled, whether or not the organisation uses them.',
        response: { 200: successResponse(Type.Array(ConnectorItem)), ...errorResponses(401, 403) },
      },
    },
    (request, reply) => {
      const isShown = toConnectorFilter(request);
      const shown = data.filter(({ connector }) => isShown(connector));
      void reply.send({ success: true, message: 'Connectors retrieved', data: shown });
    },
  );
}
