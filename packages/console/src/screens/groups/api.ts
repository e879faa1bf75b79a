import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';

export type Group = IdentitySchemas['schemas']['Group'];
export type GroupMember = IdentitySchemas['schemas']['GroupMember'];
export type GroupReference = IdentitySchemas['schemas']['GroupReference'];

export const toPath = ({ id: groupId }: Pick<Group, 'id'>) => ({ path: { groupId } });

export const usesQuery = (groupId: string) =>
  queryOptions({
    queryKey: ['groups', 'uses', groupId],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/groups/{groupId}/uses', { params: { path: { groupId } }, signal })))
        .data,
  });
