import { type FactType, factTypes } from '@platform/events';
import { Type } from 'typebox';

const types = Object.keys(factTypes) as FactType[];
/** Several are separated by commas. */
const TYPES_PATTERN = `^(${types.join('|')})(,(${types.join('|')}))*$`.replaceAll('.', '\\.');

export const FactsQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'The `nextCursor` of an earlier page.',
        'x-documented': { pattern: '^[A-Za-z0-9_-]+$' },
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
    order: Type.Optional(
      Type.Enum(['oldest', 'newest'], {
        default: 'oldest',
        description:
          '`oldest` first, for programs that follow the feed; `newest` first, for people who look back. A cursor belongs to one of them.',
      }),
    ),
    types: Type.Optional(
      Type.String({
        maxLength: 1_000,
        pattern: TYPES_PATTERN,
        description: `Facts of these types alone, separated by commas. A page may then be empty and yet have \`hasMore\`. ${types
          .map((type) => `\`${type}\`: ${factTypes[type]}`)
          .join(' ')}`,
      }),
    ),
  },
  { additionalProperties: false },
);

export const Fact = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ format: 'uuid', description: 'Unique; drop an id that was handled.' }),
    source: Type.String({ description: '`/organisations/{orgId}`' }),
    type: Type.String(),
    time: Type.String({ format: 'date-time' }),
    datacontenttype: Type.Literal('application/json'),
    data: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
  },
  { title: 'Fact', description: 'A CloudEvent (CloudEvents 1.0).' },
);

export const FactsPage = Type.Object({
  data: Type.Array(Fact),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description:
      'Where to go on, now or later. Null only while there has been no fact at all; with `newest`, at the end.',
  }),
  hasMore: Type.Boolean(),
});
