import { Type } from 'typebox';
import { cursorQuery, Id, Nullable, SecretValue } from '../schemas.js';

const Time = Type.String({ format: 'date-time' });

const connectionFields = {
  connectedAt: Time,
  lastUsedAt: Nullable(Time),
  refusedAt: Nullable(
    Type.String({ format: 'date-time', description: 'Since when the server refuses the credential.' }),
  ),
};
const Connection = Type.Object(connectionFields, { title: 'McpConnection' });

export const OwnServer = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'The first part of the names of its tools.' }),
    origin: Type.String({ description: 'Where the credential is sent.' }),
    credential: Type.Object({
      kind: Type.String({ enum: ['personal', 'oauth'] }),
      hint: Nullable(Type.String({ description: 'What an administrator says of where to get it.' })),
      link: Nullable(Type.String()),
    }),
    connection: Nullable(Connection),
  },
  { title: 'OwnMcpServer' },
);
export type OwnServer = Type.Static<typeof OwnServer>;
export const OwnServers = Type.Object({ data: Type.Array(OwnServer) });
export const OwnServerResponse = Type.Object({ server: OwnServer });

export const SignInResponse = Type.Object({
  url: Type.String({ description: 'The page of the authorization server, for the browser of this session.' }),
});

export const StoreBody = Type.Object(
  {
    value: SecretValue,
    origin: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description:
          'Where the credential is meant to be sent: 409 SERVER_MOVED when the server is elsewhere.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type StoreBody = Type.Static<typeof StoreBody>;

/** How often a member is asked at most to connect to a server, and how many members one request asks. */
export const ASKED_EVERY_DAYS = 7;
export const MAX_ASKED = 1_000;

export const AskedMembers = Type.Object(
  {
    asked: Type.Integer({ description: `Who are mailed now: ${MAX_ASKED} at most.` }),
    remaining: Type.Integer({ description: 'Who can be asked by further requests.' }),
    askedBefore: Type.Integer({
      description: `Who are not connected, and were asked within ${ASKED_EVERY_DAYS} days, now included.`,
    }),
    connected: Type.Integer({ description: 'Who are connected, of the members who may use the server.' }),
  },
  { title: 'AskedMembers' },
);
export type AskedMembers = Type.Static<typeof AskedMembers>;

const AccountCredential = Type.Object(
  {
    account: Type.Object({
      id: Id,
      kind: Type.String({ enum: ['member', 'service_account'] }),
      name: Type.String(),
      email: Nullable(Type.String()),
    }),
    ...connectionFields,
  },
  { title: 'McpAccountCredential' },
);
export const CredentialQuery = cursorQuery(
  Type.String({ format: 'uuid', description: '`nextCursor` of the page before.' }),
);
export type CredentialQuery = Type.Static<typeof CredentialQuery>;
export const CredentialPage = Type.Object({
  data: Type.Array(AccountCredential),
  nextCursor: Nullable(Id),
});
export type CredentialPage = Type.Static<typeof CredentialPage>;
export const CredentialPath = Type.Object({ id: Id, accountId: Id });
