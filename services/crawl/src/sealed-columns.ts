import type { SealedColumn } from '@platform/service-kit';
import { hookContext } from './api/hooks/service.js';
import { endpointContext } from './engine/organisation-endpoints.js';

/** The columns whose values are sealed with `ENCRYPTION_KEYS`, by what they hold. */
export const sealedColumns: Readonly<Record<string, SealedColumn>> = {
  'endpoint secrets': {
    table: 'endpoints',
    key: { id: 'uuid' },
    column: 'secrets_sealed',
    toContext: ({ id = '' }) => endpointContext(id),
  },
  'hook secrets': {
    table: 'hooks',
    key: { id: 'uuid' },
    column: 'secrets_sealed',
    toContext: ({ id = '' }) => hookContext(id),
  },
};
