import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, ListQuery, Message, tooManyWebhookSecrets } from '@platform/service-kit';
import { requireAdminRole } from '../base/authority.js';
import { getCaller } from '../base/caller/actor.js';
import { always } from '../base/confirmation.js';
import { sendSecret } from '../tokens/routes.js';
import {
  ChangeDestinationBody,
  CreateDestinationBody,
  CreatedDestination,
  DeliveriesQuery,
  DeliveryPage,
  DeliveryPath,
  DestinationAnswer,
  DestinationPage,
  DestinationPath,
  ReplacedSecret,
  TestedDestination,
} from './schemas.js';
import {
  changeDestination,
  createDestination,
  destinationDisabled,
  getDestination,
  listDeliveries,
  listDestinations,
  noSigningSecret,
  removeDestination,
  replaceSecret,
  sendAgain,
  testDestination,
  tooManyDestinations,
  type DestinationContext,
} from './service.js';

const base = '/api/v1/events/destinations';
const tags = ['Destinations'];

/** Registers the destinations themselves. */
function configurationRoutes(app: App, ctx: DestinationContext): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    base,
    {
      onRequest,
      schema: {
        operationId: 'listDestinations',
        tags,
        summary: 'Where the facts of the organisation are sent, newest first',
        description: 'Says of each since when it fails, and why it was disabled. Secrets are never shown.',
        querystring: ListQuery,
        response: { 200: DestinationPage, ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listDestinations(ctx, getMember(request), request.query),
  );
  app.post(
    base,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createDestination',
        tags,
        summary: 'Have facts sent to a webhook, or to a receiver of logs, from now on',
        description:
          'It begins with the facts after its creation. The secret of a webhook, with which requests are signed (Standard Webhooks), is shown this once. An organisation has at most 100 destinations.',
        body: CreateDestinationBody,
        response: { 201: CreatedDestination, ...errorResponses(400, 401, 403, 409, tooManyDestinations()) },
      },
    },
    async (request, reply) =>
      sendSecret(reply, await createDestination(ctx, getCaller(request), request.body)),
  );
  app.get(
    `${base}/:id`,
    {
      onRequest,
      schema: {
        operationId: 'getDestination',
        tags,
        summary: 'A destination',
        description: 'Says since when it fails, and why it was disabled.',
        params: DestinationPath,
        response: { 200: DestinationAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ destination: await getDestination(ctx, getMember(request), request.params.id) }),
  );
  app.patch(
    `${base}/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'changeDestination',
        tags,
        summary:
          'Change a destination; when enabled again, it resumes where it was, as far as facts are kept',
        description:
          'A credential that is left out is kept, null deletes it; a URL at another origin needs it again. Requests that are being sent as before are stopped. Facts are kept for 14 days.',
        params: DestinationPath,
        body: ChangeDestinationBody,
        response: { 200: DestinationAnswer, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({
      destination: await changeDestination(ctx, getCaller(request), request.params.id, request.body),
    }),
  );
  app.delete(
    `${base}/:id`,
    {
      onRequest,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeDestination',
        tags,
        summary: 'Remove a destination; nothing more is sent to it',
        description: 'Requests that are being sent are stopped. It cannot be undone.',
        params: DestinationPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await removeDestination(ctx, getCaller(request), request.params.id);
      return { message: 'Destination removed' };
    },
  );
  app.post(
    `${base}/:id/secret`,
    {
      onRequest,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'replaceDestinationSecret',
        tags,
        summary:
          'Replace the secret of a webhook; for a day, requests are signed with the replaced one as well',
        description:
          'Shown this once. While a day lasts, receivers can accept either. Up to 20 replaced secrets sign at a time.',
        params: DestinationPath,
        response: {
          201: ReplacedSecret,
          ...errorResponses(400, 401, 403, 404, 409, noSigningSecret(), tooManyWebhookSecrets()),
        },
      },
    },
    async (request, reply) =>
      sendSecret(reply, await replaceSecret(ctx, getCaller(request), request.params.id)),
  );
}

/** Registers the test of a destination, and what was sent to it. */
function deliveryRoutes(app: App, ctx: DestinationContext): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.post(
    `${base}/:id/test`,
    {
      onRequest,
      schema: {
        operationId: 'testDestination',
        tags,
        summary: 'Send a fact of the type `destination.test`, and say what became of it',
        description: 'Sends one request, without retries, and waits five seconds for its answer.',
        params: DestinationPath,
        response: {
          200: TestedDestination,
          ...errorResponses(400, 401, 403, 404, 429, destinationDisabled()),
        },
      },
    },
    (request) => testDestination(ctx, getMember(request), request.params.id),
  );
  app.get(
    `${base}/:id/deliveries`,
    {
      onRequest,
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'What was sent to a destination and with which result, newest first',
        description: 'Each has its last 20 attempts. Delivered ones are kept for 3 days, others for 14.',
        params: DestinationPath,
        querystring: DeliveriesQuery,
        response: { 200: DeliveryPage, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listDeliveries(ctx, getMember(request), request.params.id, request.query),
  );
  app.post(
    `${base}/:id/deliveries/:deliveryId/send-again`,
    {
      onRequest,
      schema: {
        operationId: 'sendDeliveryAgain',
        tags,
        summary: 'Send a delivery again, at once and with all its attempts, under the same id',
        description:
          'The receiver sees the id a second time, and should drop what it has handled. Nothing is sent to a destination that is disabled.',
        params: DeliveryPath,
        response: { 202: Message, ...errorResponses(400, 401, 403, 404, 409, destinationDisabled()) },
      },
    },
    async (request, reply) => {
      const { id, deliveryId } = request.params;
      await sendAgain(ctx, getCaller(request), id, deliveryId);
      return reply.code(202).send({ message: 'The delivery is being sent again' });
    },
  );
}

/** Registers the routes of the destinations of facts, for administrators with a session. [AUD-6] */
export function destinationRoutes(app: App, ctx: DestinationContext): void {
  configurationRoutes(app, ctx);
  deliveryRoutes(app, ctx);
}
