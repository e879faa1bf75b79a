import { Type } from 'typebox';
import { type ExpiryDays, expiryChoices } from '../create/grant.js';
import { CreatedToken, Id, Instant } from '../create/schemas.js';

const MAX_GRACE_SECONDS = 604_800;

export const RotateOptions = Type.Object(
  {
    graceSeconds: Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_SECONDS,
      default: 0,
      description: 'How long the replaced token still works. Default: it ends at once.',
    }),
    expiryDays: Type.Optional(
      Type.Unsafe<ExpiryDays>({
        enum: [...expiryChoices],
        description: 'Days, or `never`. Default: as long as the replaced token was created for.',
      }),
    ),
  },
  { required: [], additionalProperties: false },
);
/** The options as they are sent. */
export interface RotateOptions {
  readonly graceSeconds?: number;
  readonly expiryDays?: ExpiryDays;
}
/** The body is optional. */
export const RotateBody = Type.Unsafe<RotateOptions | null>(Type.Union([RotateOptions, Type.Null()]));

export const RotatedToken = Type.Object(
  {
    ...CreatedToken.properties,
    replaced: Type.Object({
      id: Id,
      endsAt: Type.Unsafe<string>({ ...Instant, description: 'Until when the replaced token works.' }),
    }),
  },
  { title: 'RotatedPersonalAccessToken' },
);
export type RotatedToken = Omit<Type.Static<typeof RotatedToken>, 'message'>;
