import { createTexts } from '../isolate.ts';

/** The texts of the sync events. */
export const events = createTexts({
  intro: 'The sync events of completed runs, oldest first, as their consumers read them.',
  noMatch: (connector: string) => `There are no events of ${connector}`,
  emptyTitle: 'There are no events yet',
  emptyAdvice: 'Each completed run publishes one. Schedule a connector, or run one now.',
  columns: { type: 'Event', id: 'Id', at: 'Published' },
  payload: 'The event as consumers read it',
});
