import type pg from 'pg';
import { notifyCommitted } from './queries.js';

/** Sends one notification at a time, however many commits there are, and one more for commits that came meanwhile. */
export function createNotifier(client: () => Pick<pg.ClientBase, 'query'> | undefined) {
  let isSending = false;
  let isWanted = false;
  async function send(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      const current = client();
      // A lost notification costs half a second, because the leader polls as well.
      if (current) await notifyCommitted(current).catch(() => undefined);
    }
    isSending = false;
  }
  return {
    notify(): void {
      isWanted = true;
      if (isSending) return;
      isSending = true;
      void send();
    },
  };
}
