import { Type } from 'typebox';
import { NamedBounds } from '../../credentials/bounds/bounds.js';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const ConnectedApp = Type.Object(
  {
    id: Id,
    client: Type.Object({
      id: Type.String({ description: 'The client id: a URL for a client that its document describes.' }),
      kind: Type.String({ description: '`application`, `document` or `registered`.' }),
      name: Type.String({
        description: 'Of an application, as its administrator named it; else what the client says.',
      }),
      host: Nullable('The host of the client id, which is verified; null without one.'),
    }),
    scopes: Type.Array(Type.String()),
    bounds: Type.Union([NamedBounds, Type.Null()]),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Type.Union([Instant, Type.Null()]),
    lastAddress: Nullable('The address from which it last obtained a token.'),
  },
  { title: 'ConnectedApp' },
);
export type ConnectedApp = Type.Static<typeof ConnectedApp>;

export const OwnedConnectedApp = Type.Object(
  {
    ...ConnectedApp.properties,
    owner: Type.Object({ id: Id, email: Type.String(), fullName: Type.String() }),
  },
  { title: 'OwnedConnectedApp' },
);
export type OwnedConnectedApp = Type.Static<typeof OwnedConnectedApp>;

export const ConnectedAppPath = Type.Object({ id: Id });
