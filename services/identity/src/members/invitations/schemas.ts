import { Type } from 'typebox';

export const RepeatedInvitation = Type.Object(
  {
    delivery: Type.Union([Type.Literal('mail'), Type.Literal('link')]),
    inviteLink: Type.Union([Type.String(), Type.Null()], {
      description: 'Only while the organisation has no SMTP server: the link to hand to the invitee.',
    }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'RepeatedInvitation' },
);
export type RepeatedInvitation = Type.Static<typeof RepeatedInvitation>;
