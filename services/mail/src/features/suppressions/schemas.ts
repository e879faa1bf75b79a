import { ListQuery } from '@platform/service-kit';
import { Type } from 'typebox';

const Address = Type.String({ format: 'email', maxLength: 254 });
export const Suppression = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    address: Type.String(),
    reason: Type.String({
      description:
        '`refused` by the SMTP server; reported as a `bounce` or a `complaint`; added by an `administrator`.',
    }),
    status: Type.Union([Type.String(), Type.Null()], { description: 'The enhanced status code, if known.' }),
    createdAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Suppression' },
);
export type Suppression = Type.Static<typeof Suppression>;

export const SuppressionQuery = Type.Object(
  {
    ...ListQuery.properties,
    search: Type.Optional(Type.String({ maxLength: 320, description: 'A part of the address.' })),
  },
  { additionalProperties: false },
);
export type SuppressionQuery = Type.Static<typeof SuppressionQuery>;

export const SuppressionBody = Type.Object(
  { address: Address },
  { additionalProperties: false, title: 'SuppressionBody' },
);
export const SuppressionResponse = Type.Object({ data: Suppression });

/** What a provider says, which who reports it can't correct. */
const Reported = (description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()], { description }));

export const BouncesBody = Type.Object(
  {
    bounces: Type.Array(
      Type.Object(
        {
          address: Reported('The recipient, with or without a display name. What cannot be read is ignored.'),
          type: Type.Enum(['bounce', 'complaint'], {
            description:
              '`bounce`: it could not be delivered, for good. `complaint`: it was reported as spam.',
          }),
          status: Reported('The enhanced status code (RFC 3463), such as `5.1.1`, as the provider names it.'),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 500 },
    ),
  },
  { additionalProperties: false, title: 'BouncesBody' },
);
export type BouncesBody = Type.Static<typeof BouncesBody>;

export const BouncesResponse = Type.Object({
  suppressed: Type.Integer({ description: 'Addresses that get no mail for 90 days.' }),
  ignored: Type.Integer({
    description:
      'Bounces without a readable address, or whose status says that a later mail may arrive, such as a full mailbox.',
  }),
});
