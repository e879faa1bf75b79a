import { type AppError, conflict } from '@platform/service-kit';

export const invitationAccepted = (): AppError =>
  conflict('INVITATION_ACCEPTED', 'The member has accepted the invitation already');
export const invitationLapsed = (): AppError =>
  conflict('INVITATION_LAPSED', 'The invitation has lapsed: invite the address anew');
