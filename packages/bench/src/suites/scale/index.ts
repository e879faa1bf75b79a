import type { Suite } from '../../runner/measurement.js';
import { mails } from './mails.js';
import { schedules } from './schedules.js';
import { tokens } from './tokens.js';

export const scaleSuite: Suite = {
  name: 'scale',
  title: 'what each act costs a service and its database, and the upkeep of many rows',
  isPinned: false,
  postgresSettings: {
    shared_preload_libraries: 'pg_stat_statements',
    shared_buffers: '2GB',
    max_wal_size: '4GB',
  },
  measurements: [tokens, schedules, mails],
};
