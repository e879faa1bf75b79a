import { AppError, conflict, notFound, validationError } from '@platform/service-kit';

export const groupNotFound = (): AppError => notFound('Group not found');
/** The error is the same for an unknown id, a removed member and one of another organisation. */
export const memberNotFound = (): AppError => notFound('Member not found');
export const nameTaken = (): AppError => conflict('NAME_TAKEN', 'There is a group with this name');
export const groupInUse = (closed: readonly string[]): AppError =>
  new AppError({
    status: 409,
    code: 'GROUP_IN_USE',
    message: `Without this group, nobody could use ${closed.length === 1 ? closed[0] : `${closed.length} servers and tools`}: change that first, or remove it with force=true`,
    details: closed.map((field) => ({ field, message: 'is limited to this group alone' })),
  });
export const managedByProvider = (): AppError =>
  conflict(
    'MANAGED_BY_PROVIDER',
    'The identity provider names this group and chooses its members: change it there',
  );
export const tooManyGroups = (max: number): AppError =>
  new AppError({
    status: 400,
    code: 'TOO_MANY_GROUPS',
    message: `An organisation can have ${max} groups: remove groups that are not needed`,
  });
export const tooManyMemberships = (max: number, name: string): AppError =>
  validationError([{ field: 'members', message: `${name} is in ${max} groups, the most there can be` }]);
