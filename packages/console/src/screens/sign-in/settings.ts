import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';

export type SignInSettings = IdentitySchemas['schemas']['SignInSettings'];

const PATH = '/api/v1/configurationManager/signInConfig';

export const signInQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: async ({ signal }) => (await unwrap(identity.GET(PATH, { signal }))).signIn,
});

/** @param changes - `endSessions` ends the sessions that were opened without a second factor. */
export const saveSettings = (changes: {
  codesEnabled: boolean;
  secondFactorRequired?: boolean;
  endSessions?: boolean;
}) => unwrap(identity.POST(PATH, { body: changes }));

export interface ChangeProps {
  readonly settings: SignInSettings;
  onClose(): void;
}
