import type pg from 'pg';
import { notifyCommitted } from './queries.js';

/** Tells the leader, on another replica, that events were committed. */
export interface Notifier {
  notify(): void;
}

/** However many commits there are, one notice is under way at a time, and one follows it if it came too late. */
export function createNotifier(client: () => Pick<pg.ClientBase, 'query'> | undefined): Notifier {
  let isSending = false;
  let isWanted = false;
  async function send(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      const current = client();
      // A notice that is lost costs half a second: the leader looks by itself.
      if (current) await notifyCommitted(current).catch(() => undefined);
    }
    isSending = false;
  }
  return {
    notify() {
      isWanted = true;
      if (isSending) return;
      isSending = true;
      void send();
    },
  };
}
