import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type Gate, runBehind } from './stepped-pool.js';

/** How an actor ended; undefined while it has not. */
export type Outcome =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: Error & { readonly code?: unknown }; readonly value?: undefined }
  | undefined;

/** What an actor did at one step of an interleaving. */
export interface Step {
  readonly actor: string;
  readonly statement: string;
  /** The actors whose locks it waits for. */
  waitsFor: readonly string[];
  /** How the actor ended after it. */
  ending?: string;
}

/**
 * What other actors notice of a statement: nothing of one that only reads; its locks until the transaction ends; or what it
 * changes, and the locks that it releases.
 */
export type Effect = 'none' | 'locks' | 'changes';

/** An actor whose next statement can be sent. */
export interface ReadyActor {
  readonly name: string;
  readonly effect: Effect;
}

/** Returns which of the ready actors is next; undefined ends the interleaving, which is like one that was tried before. */
export type Choose = (ready: readonly ReadyActor[]) => number | undefined;

/** An interleaving as it happened. */
export interface Interleaving {
  readonly steps: readonly Step[];
  /** Where several actors were ready, which of them was chosen. */
  readonly choices: readonly number[];
  readonly failure: Error | undefined;
  /** Whether it was ended before its actors had. */
  readonly isPruned: boolean;
}

/**
 * An actor is computing, waits at the gate with its next statement, has the server execute it, waits there for a lock, or
 * is done. One that the server lets go on is computing again when its statement returns.
 */
type State = 'computing' | 'ready' | 'executing' | 'done';

/** Ends a hang: no actor computes or executes for so long. */
const PATIENCE_MS = 30_000;
/** How long a statement is waited for until the server is asked whether it waits for a lock. */
const LOCK_CHECK_MS = 2;

/** These neither read nor lock anything, so their place makes no difference. */
const isBegin = (statement: string) => /^\s*(?:begin|start transaction)\b/i.test(statement);
const isInvisible = (statement: string) => isBegin(statement) || /^\s*(?:savepoint|set)\b/i.test(statement);
const isEnd = (statement: string) => /^\s*(?:commit|rollback)\s*;?\s*$/i.test(statement);

/** A `select` of the services that changes something locks, or calls a function and reads from nothing. */
const writes =
  /\b(?:insert|update|delete|merge|lock|truncate|for\s+(?:key\s+)?share|nextval|pg_notify|\w*lock\w*)\b/i;

function toEffect(statement: string, isInTransaction: boolean): Effect {
  if (isEnd(statement)) return 'changes';
  const isQuery = /^\s*(?:select|with)\b.*\bfrom\b/is.test(statement);
  if (isQuery && !writes.test(statement)) return 'none';
  return isInTransaction ? 'locks' : 'changes';
}

const blockersOf = {
  name: 'interleavings_blockers',
  text: 'select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid',
};

/** Wakes everybody who waits for a change of state. */
function createSignal() {
  let wake: () => void = () => undefined;
  let next = new Promise<void>((resolve) => (wake = resolve));
  return {
    notify() {
      wake();
      next = new Promise<void>((resolve) => (wake = resolve));
    },
    /** @returns false when nothing changed in time. */
    async wait(timeoutMs: number): Promise<boolean> {
      const timer = new AbortController();
      const late = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false);
      const changed = await Promise.race([next.then(() => true), late]);
      timer.abort();
      return changed;
    },
  };
}

type Signal = ReturnType<typeof createSignal>;

function createActor(name: string, signal: Signal, steps: Step[]) {
  let state: State = 'computing';
  let grant: () => void = () => undefined;
  let current: Step | undefined;
  let isFree = false;
  let isInTransaction = false;
  let effect: Effect = 'none';
  const enter = (next: State) => {
    state = next;
    signal.notify();
  };
  const actor = {
    name,
    outcome: undefined as Outcome,
    pid: 0,
    get state() {
      return state;
    },
    get step() {
      return current;
    },
    get effect() {
      return effect;
    },
    /** Sends the statement that is ready. */
    proceed() {
      if (current) steps.push(current);
      state = 'executing';
      grant();
    },
    /** Lets the actor end without waiting for its turn. */
    release() {
      isFree = true;
      grant();
    },
    async start(run: () => Promise<unknown>): Promise<void> {
      try {
        actor.outcome = { value: await runBehind(gate, run) };
      } catch (error) {
        actor.outcome = { error: error instanceof Error ? error : new Error(String(error)) };
      }
      if (current) current.ending = describeEnding(actor.outcome);
      enter('done');
    },
  };
  /** Resolves when the statement before has ended: an actor that sends several at once sends them in their order. */
  let previous: Promise<void> = Promise.resolve();
  const gate: Gate = {
    async pass({ text, pid }, send) {
      if (isInvisible(text)) {
        if (isBegin(text)) isInTransaction = true;
        return send();
      }
      const before = previous;
      let end: () => void = () => undefined;
      previous = new Promise((resolve) => (end = resolve));
      try {
        await before;
        // What an actor leaves running when it has ended is not its own any more.
        if (isFree || state === 'done') return await send();
        actor.pid = pid;
        effect = toEffect(text, isInTransaction);
        if (isEnd(text)) isInTransaction = false;
        current = { actor: name, statement: text, waitsFor: [] };
        const turn = new Promise<void>((resolve) => (grant = resolve));
        enter('ready');
        await turn;
        return await send();
      } finally {
        end();
        if (actor.state !== 'done') enter('computing');
      }
    },
  };
  return actor;
}

type Actor = ReturnType<typeof createActor>;

function describeEnding(outcome: Outcome): string {
  if (!outcome?.error) return 'succeeds';
  const { code, message } = outcome.error;
  return `fails: ${typeof code === 'string' ? `${code} ` : ''}${message.split('\n').at(-1)}`;
}

/** Asks the server which of the actors wait for locks, and for whom. */
async function findBlocked(observer: pg.Pool, actors: readonly Actor[]): Promise<Map<Actor, Actor[]>> {
  const { rows } = await observer.query<{ pid: number; blockers: number[] }>({
    ...blockersOf,
    values: [actors.filter(({ state }) => state === 'executing').map(({ pid }) => pid)],
  });
  const byPid = new Map(actors.map((actor) => [actor.pid, actor]));
  return new Map(
    rows.flatMap(({ pid, blockers }) => {
      const actor = byPid.get(pid);
      const others = blockers.flatMap((blocker) => byPid.get(blocker) ?? []);
      return actor && others.length > 0 ? [[actor, others] as const] : [];
    }),
  );
}

/** Whether an actor waits for one that is ready, however many others stand between; otherwise it is part of a deadlock. */
const waitsForReady = (
  blocked: ReadonlyMap<Actor, readonly Actor[]>,
  actor: Actor,
  seen = new Set<Actor>(),
): boolean =>
  (blocked.get(actor) ?? []).some((other) => {
    if (other.state === 'ready') return true;
    if (seen.has(other)) return false;
    seen.add(other);
    return waitsForReady(blocked, other, seen);
  });

/** Waits until no actor goes on by itself: each is ready, done, or waits for the lock of one that is ready. */
async function settle(observer: pg.Pool, actors: readonly Actor[], signal: Signal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    if (actors.every(({ state }) => state === 'ready' || state === 'done')) return;
    const isComputing = actors.some(({ state }) => state === 'computing');
    if (await signal.wait(isComputing ? PATIENCE_MS : LOCK_CHECK_MS)) continue;
    if (!isComputing) {
      const blocked = await findBlocked(observer, actors);
      const waiting = actors.filter(({ state }) => state === 'executing' || state === 'computing');
      if (waiting.every((actor) => actor.state === 'executing' && waitsForReady(blocked, actor))) {
        for (const [{ step }, others] of blocked)
          if (step?.waitsFor.length === 0) step.waitsFor = others.map(({ name }) => name);
        return;
      }
    }
    if (performance.now() > deadline) {
      const stuck = actors.filter(({ state }) => state === 'computing' || state === 'executing');
      throw new Error(
        `${stuck.map(({ name, state }) => `"${name}" is ${state}`).join(' and ')}, and nothing happens. ` +
          'Does it need a second connection, or wait for another actor in the memory of this process?',
      );
    }
  }
}

const getOutcomes = (actors: readonly Actor[]): Readonly<Record<string, Outcome>> =>
  Object.fromEntries(actors.map(({ name, outcome }) => [name, outcome]));

const countEnded = (actors: readonly Actor[]): number =>
  actors.filter(({ outcome }) => outcome !== undefined).length;

/**
 * Runs the actors once, one statement after the other.
 *
 * @param check - throws when a promise is broken; called after each step that has committed or ended something, with how
 *   the actors have ended so far.
 */
export async function runInterleaving(
  observer: pg.Pool,
  runs: Readonly<Record<string, () => Promise<unknown>>>,
  choose: Choose,
  check: (outcomes: Readonly<Record<string, Outcome>>) => Promise<void>,
): Promise<Interleaving> {
  const signal = createSignal();
  const steps: Step[] = [];
  const choices: number[] = [];
  const actors = Object.keys(runs).map((name) => createActor(name, signal, steps));
  const ends = actors.map((actor) => actor.start(async () => runs[actor.name]?.()));
  let failure: Error | undefined;
  let isPruned = false;
  /** Whether promises were looked at after all answers. */
  let isComplete = false;
  try {
    await settle(observer, actors, signal);
    for (;;) {
      const ready = actors.filter(({ state }) => state === 'ready');
      if (ready.length === 0) break;
      const chosen = choose(ready);
      if (chosen === undefined) {
        isPruned = true;
        break;
      }
      if (ready.length > 1) choices.push(chosen);
      const next = ready[chosen];
      const ended = countEnded(actors);
      const changes = next?.effect === 'changes';
      next?.proceed();
      await settle(observer, actors, signal);
      // Otherwise nothing has been committed, and nobody has been answered.
      if (changes || countEnded(actors) > ended) {
        isComplete = countEnded(actors) === actors.length;
        await check(getOutcomes(actors));
      }
    }
    if (!isPruned && !isComplete) {
      // An answer can follow the last statement, and what an actor has woken can still wait for its turn.
      for (const actor of actors) actor.release();
      await Promise.all(ends);
      await check(getOutcomes(actors));
    }
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  for (const actor of actors) actor.release();
  await Promise.all(ends);
  return { steps, choices, failure, isPruned };
}
