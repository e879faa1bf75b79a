import { services as t } from '#text/services';
import type { IdentitySchemas } from '@platform/clients/types';
import type { Tone } from '../../ui/badge.tsx';

export type Service = IdentitySchemas['schemas']['OwnMcpServer'];

export function describeState({ connection }: Service): { readonly tone: Tone; readonly label: string } {
  if (connection === null) return { tone: 'neutral', label: t.states.none };
  return connection.refusedAt === null
    ? { tone: 'good', label: t.states.connected }
    : { tone: 'bad', label: t.states.refused };
}
