import pg from 'pg';
import { isThorough, readInterleavingReplay, readInterleavingSeeds } from '../environment.js';
import { createRandom } from '../random.js';
import { waitFor } from '../wait-for.js';
import {
  type Choose,
  type Interleaving,
  type Outcome,
  type ReadyActor,
  runInterleaving,
} from './run-interleaving.js';
import { createSteppedPool, isIdle } from './stepped-pool.js';

/*
 * Explores in which orders the statements of concurrent actors can reach PostgreSQL. Each actor is a call of the product's
 * own function on a connection of its own; a scheduler decides who sends the next statement. A statement that waits for a
 * lock leaves the turn to the others, and a deadlock ends as the server ends it.
 *
 * An interleaving is a list of choices: at each step at which several actors are ready, which of them goes on. Where there
 * are few, all are tried; otherwise seeds choose.
 */

export type Outcomes = Readonly<Record<string, Outcome>>;

/** What the functions of the product need. `Context` is what they take. */
export interface ExplorerOptions<Context> {
  readonly databaseUrl: string;
  /** Makes what an actor needs from a pool of its own. Called once for each actor; later explorations use it again. */
  readonly connect: (pool: pg.Pool) => Context | Promise<Context>;
  readonly disconnect?: (context: Context) => Promise<unknown>;
}

/** What is explored. `State` is what one interleaving is about. */
export interface Exploration<Context, State> {
  /** Stores what each interleaving begins with. None may see what is left of the one before. */
  readonly prepare: () => Promise<State>;
  /** What happens at the same time, by the name that the listing shows. */
  readonly actors: Readonly<Record<string, (context: Context, state: State) => Promise<unknown>>>;
  /** The codes of errors with which an actor may fail. Any other, and a deadlock (40P01), is a fault. */
  readonly mayFail?: readonly string[];
  /** Throws when a promise is broken. Called after each step that others can notice, with how the actors have ended so far. */
  readonly checkStep?: (state: State, outcomes: Outcomes) => Promise<void>;
  /** Throws when a promise is broken. Called when all have ended. */
  readonly checkEnd?: (state: State, outcomes: Outcomes) => Promise<void>;
  /** Interleavings that broke a promise once, as a failure names them. They are tried first. */
  readonly known?: readonly string[];
  /** How many are tried, as a part of INTERLEAVING_SEEDS: less where each is a whole request. Default 1. */
  readonly share?: number;
}

export interface ExplorationReport {
  /** The number of interleavings that were tried. */
  readonly tried: number;
  /** Whether these are all that there are. */
  readonly isExhaustive: boolean;
}

/** An interleaving that breaks a promise, as a list of its steps. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError';
  constructor(
    /** Replays the interleaving: see INTERLEAVING_REPLAY. */
    readonly replay: string,
    interleaving: Interleaving,
  ) {
    super(`${interleaving.failure?.message}\n\n${describe(interleaving)}\n\nINTERLEAVING_REPLAY=${replay}`, {
      cause: interleaving.failure,
    });
  }
}

/** How many random interleavings tell whether all can be tried. */
const PROBES = 5;
/** Few switches find what needs one actor in the middle of another, many what needs both halfway. */
const SWITCH_PROBABILITIES = [0.1, 0.3, 0.6] as const;
const STATEMENT_LENGTH = 110;

/** Lets an actor go on until the seed has another one take over. */
function chooseBySeed(seed: number): Choose {
  const random = createRandom(seed);
  const probability = SWITCH_PROBABILITIES[seed % SWITCH_PROBABILITIES.length] ?? 0;
  let last: string | undefined;
  return (ready) => {
    const current = ready.findIndex(({ name }) => name === last);
    const isSwitching = current < 0 || random() < probability;
    const others = [...ready.keys()].filter((index) => index !== current);
    const chosen = isSwitching ? (others[Math.floor(random() * others.length)] ?? current) : current;
    last = ready[chosen]?.name;
    return chosen;
  };
}

/** Lets one actor end before all others begin. */
const chooseActor =
  (first: string): Choose =>
  (ready) =>
    Math.max(
      0,
      ready.findIndex(({ name }) => name === first),
    );

/** Makes the choices of a failure, and then always the first. */
function chooseByPath(path: readonly number[]): Choose {
  let step = 0;
  return (ready) => (ready.length === 1 ? 0 : Math.min(path[step++] ?? 0, ready.length - 1));
}

/** Whether the order of two statements makes no difference: what only reads has to be on the right side of changes only. */
const areIndependent = (one: ReadyActor, other: ReadyActor): boolean =>
  (one.effect === 'none' && other.effect !== 'changes') ||
  (other.effect === 'none' && one.effect !== 'changes');

/** A choice in the tree of all interleavings. */
interface Branch {
  readonly chosen: number;
  readonly of: number;
}

/**
 * Walks down the tree of interleavings, without the branches that are like one before them: where the order of two
 * statements makes no difference, only one of the two is tried (the sleep sets of partial-order reduction).
 *
 * @param pick - returns which of so many branches to take. @param branches - gets what was taken.
 */
function chooseInTree(pick: (of: number, depth: number) => number, branches: Branch[]): Choose {
  let asleep: readonly ReadyActor[] = [];
  return (ready) => {
    const awake = ready.filter(({ name }) => asleep.every((one) => one.name !== name));
    if (awake.length === 0) return undefined;
    // An actor that does several things at once can take another way than before.
    const chosen = awake.length === 1 ? 0 : Math.min(pick(awake.length, branches.length), awake.length - 1);
    const next = awake[chosen] as ReadyActor;
    if (awake.length > 1) branches.push({ chosen, of: awake.length });
    const { name, effect } = next;
    asleep = [
      ...asleep,
      ...awake.slice(0, chosen).map((one) => ({ name: one.name, effect: one.effect })),
    ].filter((one) => areIndependent(one, { name, effect }));
    return ready.indexOf(next);
  };
}

const LETTERS = 'abcdefgh';
const formatPath = (choices: readonly number[]): string =>
  choices.map((chosen) => LETTERS[chosen]).join('') || 'a';

/** Reads a seed, or a path as {@link formatPath} writes it. */
function toChoose(replay: string): Choose {
  if (/^\d+$/.test(replay)) return chooseBySeed(Number(replay));
  const path = Array.from(replay, (letter) => LETTERS.indexOf(letter));
  if (path.includes(-1)) throw new Error(`An interleaving is a seed or letters of ${LETTERS}, not ${replay}`);
  return chooseByPath(path);
}

/** Returns the branch of each choice on the next way down; undefined after the last. */
function findNextWay(branches: readonly Branch[]): number[] | undefined {
  const last = branches.findLastIndex(({ chosen, of }) => chosen + 1 < of);
  if (last < 0) return undefined;
  return branches.slice(0, last + 1).map(({ chosen }, index) => (index === last ? chosen + 1 : chosen));
}

function describe({ steps }: Interleaving): string {
  const width = Math.max(0, ...steps.map(({ actor }) => actor.length));
  return steps
    .map(({ actor, statement, waitsFor, ending }, index) => {
      const text = statement.replaceAll(/\s+/g, ' ').trim();
      const shown = text.length > STATEMENT_LENGTH ? `${text.slice(0, STATEMENT_LENGTH)}…` : text;
      const wait = waitsFor.length > 0 ? ` — waits for ${waitsFor.join(' and ')}` : '';
      return `${String(index + 1).padStart(3)}  ${actor.padEnd(width)}  ${shown}${wait}${ending ? ` — ${ending}` : ''}`;
    })
    .join('\n');
}

/** Something that acts, on connections of its own. */
interface Seat<Context> {
  readonly pool: pg.Pool;
  readonly context: Context;
}

function assertExpected(outcomes: Outcomes, mayFail: readonly string[]): void {
  for (const [name, outcome] of Object.entries(outcomes))
    if (outcome?.error && !mayFail.includes(String(outcome.error.code)))
      throw new Error(`"${name}" failed: ${outcome.error.message}`, { cause: outcome.error });
}

/** Creates the runs of one exploration. */
function createRuns<Context, State>(
  observer: pg.Pool,
  seats: readonly Seat<Context>[],
  { prepare, actors, mayFail = [], checkStep, checkEnd }: Exploration<Context, State>,
) {
  let tried = 0;

  /** @throws BrokenPromiseError. */
  async function run(choose: Choose, seed?: number): Promise<void> {
    const state = await prepare();
    const runs = Object.entries(actors).map(
      ([name, act], index) => [name, () => act((seats[index] as Seat<Context>).context, state)] as const,
    );
    const interleaving = await runInterleaving(
      observer,
      Object.fromEntries(runs),
      choose,
      async (outcomes) => {
        assertExpected(outcomes, mayFail);
        await checkStep?.(state, outcomes);
        if (Object.values(outcomes).every((outcome) => outcome !== undefined))
          await checkEnd?.(state, outcomes);
      },
    );
    await waitFor(() => seats.every(({ pool }) => isIdle(pool)), {
      what: 'the end of what the actors left running',
      intervalMs: 1,
    });
    if (interleaving.failure)
      throw new BrokenPromiseError(
        seed === undefined ? formatPath(interleaving.choices) : String(seed),
        interleaving,
      );
    if (!interleaving.isPruned) tried += 1;
  }

  return {
    run,
    get tried() {
      return tried;
    },

    /** Estimates the number of ways down the tree: on a random one, the branches of each choice are multiplied (Knuth). */
    async estimate(): Promise<number> {
      let sum = 0;
      for (let seed = 1; seed <= PROBES; seed += 1) {
        const branches: Branch[] = [];
        const random = createRandom(seed);
        await run(chooseInTree((of) => Math.floor(random() * of), branches));
        sum += branches.reduce((product, { of }) => product * of, 1);
      }
      return sum / PROBES;
    },

    /** @returns false when there are more ways down the tree than the limit. */
    async tryAll(limit: number): Promise<boolean> {
      let way: readonly number[] | undefined = [];
      for (let count = 0; way && count < limit; count += 1) {
        const branches: Branch[] = [];
        const current = way;
        await run(chooseInTree((_of, depth) => current[depth] ?? 0, branches));
        way = findNextWay(branches);
      }
      return way === undefined;
    },
  };
}

/**
 * Returns which acts are explored together: the sets that promises are about, and, with INTERLEAVING_SEEDS, each act with
 * each and with itself, which finds deadlocks that nobody has thought of.
 */
export function listSets<Name extends string>(
  names: readonly Name[],
  chosen: readonly (readonly Name[])[],
): readonly (readonly Name[])[] {
  if (!isThorough()) return chosen;
  const pairs = names.flatMap((one, index) => names.slice(index).map((other) => [one, other]));
  return [...chosen, ...pairs];
}

/** Creates an explorer of the interleavings in one database. */
export function createExplorer<Context>({ databaseUrl, connect, disconnect }: ExplorerOptions<Context>) {
  const observer = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const seats: Seat<Context>[] = [];

  return {
    /** @throws BrokenPromiseError for the first interleaving that breaks a promise. */
    async explore<State>(exploration: Exploration<Context, State>): Promise<ExplorationReport> {
      while (seats.length < Object.keys(exploration.actors).length) {
        const pool = createSteppedPool(databaseUrl);
        seats.push({ pool, context: await connect(pool) });
      }
      const runs = createRuns(observer, seats, exploration);
      const report = (isExhaustive: boolean) => ({ tried: runs.tried, isExhaustive });
      const replay = readInterleavingReplay();
      if (replay !== undefined) {
        await runs.run(toChoose(replay), /^\d+$/.test(replay) ? Number(replay) : undefined);
        return report(false);
      }
      for (const path of exploration.known ?? []) await runs.run(toChoose(path));
      for (const first of Object.keys(exploration.actors)) await runs.run(chooseActor(first));
      const seeds = Math.ceil(readInterleavingSeeds() * (exploration.share ?? 1));
      if ((await runs.estimate()) <= 2 * seeds && (await runs.tryAll(seeds))) return report(true);
      for (let seed = 1; seed <= seeds; seed += 1) await runs.run(chooseBySeed(seed), seed);
      return report(false);
    },

    /** Closes all connections. */
    async close(): Promise<void> {
      await Promise.all(seats.map(async ({ context }) => disconnect?.(context)));
      await Promise.all([observer, ...seats.map(({ pool }) => pool)].map((pool) => pool.end()));
    },
  };
}
