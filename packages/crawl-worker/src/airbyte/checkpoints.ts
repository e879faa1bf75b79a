import type { CrawlRun } from '../run.js';
import type { Checkpoint } from './slice-plan.js';
import type { StateStore } from './state.js';
import { serialiseStates, type States } from './stream-states.js';

const INTERVAL_MS = 1_000;
/** A large state costs a file each time. */
const FILE_INTERVAL_MS = 10_000;

/** How far the source has been read. */
export interface Progress extends Omit<Checkpoint, 'state' | 'complete'> {
  readonly states: States;
  readonly complete: ReadonlySet<string>;
}

/** Sets the checkpoints of a slice, as often as their size allows. */
export function createCheckpoints(run: Pick<CrawlRun, 'checkpoint'>, store: StateStore) {
  /** Everything before it is stored. */
  let stored: Progress | undefined;
  let saved: Progress | undefined;
  let savedAt = 0;
  let saving: Promise<void> = Promise.resolve();
  let intervalMs = INTERVAL_MS;

  async function write({ states, complete, ...progress }: Progress): Promise<void> {
    const text = serialiseStates(states);
    const state = text === undefined ? undefined : await store.save(text);
    run.checkpoint({ ...progress, complete: [...complete], ...(state && { state }) } satisfies Checkpoint);
    intervalMs = state && 'sha256' in state ? FILE_INTERVAL_MS : INTERVAL_MS;
  }

  async function saveStored(): Promise<void> {
    if (!stored || stored === saved) return;
    const progress = stored;
    await write(progress);
    saved = progress;
    savedAt = performance.now();
  }

  /** One at a time: the one that comes later has what was stored meanwhile. */
  const save = (): Promise<void> => (saving = saving.catch(() => undefined).then(saveStored));

  return {
    /** Call this once everything before `progress` is stored. */
    reach: (progress: Progress): void => void (stored = progress),
    /** Sets a checkpoint if one is due. */
    saveIfDue: async (): Promise<void> => {
      if (performance.now() - savedAt >= intervalMs) await save();
    },
    /** Sets a checkpoint at what was reached last. */
    save,
    /** Sets the checkpoint from which the next run starts. */
    write,
    /** Returns whether the slice has set one. */
    isSet: (): boolean => saved !== undefined,
  };
}
