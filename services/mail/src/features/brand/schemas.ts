import { Type } from 'typebox';
import { languages } from '../../generated/templates.js';

export const MAX_LOGO_BYTES = 65_536;
/** The logo in base64, and the rest of the brand. */
export const MAX_BODY_BYTES = 131_072;

const ShownText = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ format: 'display-name', maxLength, description }));

export const BrandBody = Type.Object(
  {
    name: ShownText(100, 'Instead of the name of the organisation, above and below each mail.'),
    logo: Type.Optional(
      Type.String({
        maxLength: Math.ceil(MAX_LOGO_BYTES / 3) * 4,
        description:
          'A PNG of at most 64 KiB and 4,096 pixels a side, whole and with nothing after it, in base64. It is sent with each mail, and nothing is loaded from elsewhere.',
        'x-documented': { pattern: '^iVBORw0KGgoAAAANSUhEUg[A-Za-z0-9+/]+={0,2}$' },
      }),
    ),
    accentColor: Type.Optional(Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'Of buttons.' })),
    footer: ShownText(300, 'A line in the foot, such as the postal address.'),
    replyTo: Type.Optional(
      Type.String({ format: 'email', maxLength: 254, description: 'Where replies go.' }),
    ),
    language: Type.Optional(
      Type.Enum([...languages], { description: 'Of mails whose request names no other. Default: English.' }),
    ),
  },
  { additionalProperties: false, title: 'Brand' },
);
export type BrandBody = Type.Static<typeof BrandBody>;

export const BrandResponse = Type.Object({ data: BrandBody });
