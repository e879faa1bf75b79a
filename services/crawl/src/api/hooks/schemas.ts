import { Type } from 'typebox';
import { type HookKind, hookKinds } from '../../domain/hook.js';

const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);
const Kind = Type.Unsafe<HookKind>({
  enum: [...hookKinds],
  description:
    'How requests are verified: `github` by `X-Hub-Signature-256`, `gitlab` by `X-Gitlab-Token`, `standard_webhooks` by `webhook-signature` (not older than five minutes), `bearer` by `Authorization: Bearer`.',
});
const Description = Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' });

export const HookItem = Type.Object(
  {
    hookId: Type.String({ format: 'uuid' }),
    kind: Kind,
    description: Description,
    path: Type.String({ description: 'The path of its address, below the URL of the platform.' }),
    createdBy: Type.String({ format: 'uuid' }),
    createdAt: Instant,
    rotatedAt: Type.Union([Instant, Type.Null()], { description: 'When its secret was last rotated.' }),
    lastRungAt: Type.Unsafe<Type.Static<typeof NullableInstant>>({
      ...NullableInstant,
      description: 'When a verified request last came.',
    }),
  },
  { title: 'CrawlHook' },
);
export type HookItem = Type.Static<typeof HookItem>;

export const HookWithSecret = Type.Object(
  {
    ...HookItem.properties,
    secret: Type.String({ description: 'It verifies requests to the hook, and is shown this once.' }),
  },
  { title: 'CrawlHookWithSecret' },
);
export type HookWithSecret = Type.Static<typeof HookWithSecret>;

const Secret = Type.String({
  minLength: 16,
  maxLength: 256,
  pattern: '^[!-~]+$',
  description:
    'The secret that the source has made, which for `standard_webhooks` has the form `whsec_<Base64>`. Without it, the platform makes one.',
});

export const HookBody = Type.Object(
  { kind: Kind, description: Type.Optional(Description), secret: Type.Optional(Secret) },
  { additionalProperties: false },
);
export type HookBody = Type.Static<typeof HookBody>;

/** The body may be left out. */
export const RotateHookBody = Type.Union([
  Type.Object({ secret: Type.Optional(Secret) }, { additionalProperties: false }),
  Type.Null(),
]);

export const hookParams = { hookId: Type.String({ format: 'uuid' }) };
