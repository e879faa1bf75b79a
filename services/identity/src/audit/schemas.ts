import { AuditEntry } from '@platform/events';
import { PageQuery, Pagination } from '@platform/service-kit';
import { Type } from 'typebox';

const Nullable = (description: string, format?: string) =>
  Type.Union([Type.String(format === undefined ? {} : { format }), Type.Null()], { description });

export const AuditQuery = Type.Object(
  {
    ...PageQuery.properties,
    cursor: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'The `nextCursor` of the page before. `page` is ignored then, and `pagination.total` is meaningless.',
      }),
    ),
    actorId: Type.Optional(Type.String({ format: 'uuid', description: 'The member who did it.' })),
    action: Type.Optional(
      Type.String({ maxLength: 64, description: 'What happened, such as `token.revoked`.' }),
    ),
    subjectId: Type.Optional(
      Type.String({ format: 'uuid', description: 'The token, member or session it was done to.' }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'Part of the name or e-mail address of whom it was done by or to, or of the IP address, in any case.',
      }),
    ),
    from: Type.Optional(Type.String({ format: 'date-time', description: 'Entries since then.' })),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'Entries before then.' })),
  },
  { additionalProperties: false },
);
export type AuditQuery = Type.Static<typeof AuditQuery>;

export const AuditName = Type.Object(
  {
    kind: Type.String({
      description:
        '`member`, `token`, `session` (named after its member), `service_account`, `application`, `connected_app`, `mcp_server`, `destination`, `organisation`, `crawl` (a connector, by its schedule or run) or `crawl_endpoint`.',
    }),
    name: Type.String(),
  },
  { title: 'AuditName' },
);

export const AuditPage = Type.Object({
  data: Type.Array(AuditEntry),
  names: Type.Record(Type.String(), AuditName, {
    description: 'By id: whom and what the entries and the filters mean. What no longer exists has no name.',
  }),
  nextCursor: Nullable('Where the next page begins; null when there is no more.', 'uuid'),
  pagination: Pagination,
  searchedFrom: Nullable(
    'With a filter: the time of the oldest entry that was looked at, when there are older ones. Ask again with `to`.',
  ),
});
export type AuditPage = Type.Static<typeof AuditPage>;
