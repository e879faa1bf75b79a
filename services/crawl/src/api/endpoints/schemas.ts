import { HTTP_URL_PATTERN } from '@platform/service-kit';
import { Type } from 'typebox';

const Instant = Type.String({ format: 'date-time' });
const URL_FIELD = { description: 'Where orders are posted.' };
const GivenUrl = Type.String({
  maxLength: 2_048,
  description:
    'Where orders are posted: a URL with a public address and `https`, or what else the operator allows.',
  'x-documented': { pattern: HTTP_URL_PATTERN },
});
export const EndpointItem = Type.Object(
  {
    endpointId: Type.String({ format: 'uuid' }),
    // In its normal form, which may be longer than what was given.
    url: Type.String(URL_FIELD),
    description: Type.String(),
    createdBy: Type.String({ format: 'uuid' }),
    createdAt: Instant,
    rotatedAt: Type.Union([Instant, Type.Null()], { description: 'When its secret was last rotated.' }),
    connectors: Type.Array(Type.String(), { description: 'The connectors whose schedules use it.' }),
  },
  { title: 'CrawlEndpoint' },
);
export type EndpointItem = Type.Static<typeof EndpointItem>;

export const EndpointWithSecret = Type.Object(
  {
    ...EndpointItem.properties,
    secret: Type.String({ description: 'It signs requests to the endpoint, and is shown this once.' }),
  },
  { title: 'CrawlEndpointWithSecret' },
);
export type EndpointWithSecret = Type.Static<typeof EndpointWithSecret>;

const Description = Type.String({ maxLength: 500, format: 'display-text' });

export const EndpointBody = Type.Object(
  {
    url: GivenUrl,
    description: Type.Optional(Description),
  },
  { additionalProperties: false },
);

export const TestResult = Type.Object(
  {
    isOk: Type.Boolean({
      description:
        'Whether it would accept orders: it neither refused the signature, failed, limited requests nor redirected.',
    }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Null when it did not answer.' }),
    message: Type.String(),
  },
  { title: 'CrawlEndpointTest' },
);
export type TestResult = Type.Static<typeof TestResult>;

export const EndpointPath = Type.Object({ endpointId: Type.String({ format: 'uuid' }) });
export type EndpointPath = Type.Static<typeof EndpointPath>;
