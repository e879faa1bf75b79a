import pg from 'pg';
import { createExplorer, type Exploration, type ExplorationReport, type Outcomes } from './explore.js';
import { takeSnapshot } from './snapshot.js';

/*
 * Acts of a service that happen at the same time in one world: rows that are made once, and are what they were before each
 * interleaving.
 */

/** A query with its values. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What somebody does, and what holds from when it was answered. */
export interface Act<Context, World> {
  readonly run: (context: Context, world: World) => Promise<unknown>;
  /** A query that finds what must not be there any more. */
  readonly ends?: (world: World) => Query;
}

/** `Context` is what an act needs; `World` is what it finds. */
export interface ActingOptions<Context, World> {
  readonly databaseUrl: string;
  readonly db: pg.Pool;
  readonly world: World;
  readonly connect: (pool: pg.Pool) => Context | Promise<Context>;
  readonly disconnect?: (context: Context) => Promise<unknown>;
  /** What holds at any time, by what is wrong otherwise: queries that find nothing. */
  readonly invariants: Readonly<Record<string, string>>;
  /** Throws when the answers so far contradict each other or what is stored. */
  readonly check?: (outcomes: Outcomes) => Promise<void> | void;
  /** As in {@link Exploration}. */
  readonly mayFail?: readonly string[];
  readonly share?: number;
}

export interface ActsReport extends ExplorationReport {
  /** The acts that never succeeded, about which nothing was explored, and why. */
  readonly refused: readonly (readonly [act: string, why: string])[];
}

/** Keeps the database as it is now, and explores acts in it. */
export async function startActing<Context, World>(options: ActingOptions<Context, World>) {
  const { databaseUrl, db, world, connect, disconnect, invariants, mayFail = [], share = 1 } = options;
  const restore = await takeSnapshot(db);
  const explorer = createExplorer<Context>({
    databaseUrl,
    connect,
    ...(disconnect && { disconnect }),
  });
  const anyBroken = Object.entries(invariants)
    .map(([what, text]) => `select ${pg.escapeLiteral(what)} as what where exists (${text})`)
    .join(' union all ');

  async function check(
    acts: Readonly<Record<string, Act<Context, World>>>,
    outcomes: Outcomes,
  ): Promise<void> {
    const { rows } = await db.query<{ what: string }>(anyBroken);
    if (rows[0]) throw new Error(rows[0].what);
    for (const [name, { ends }] of Object.entries(acts)) {
      if (!ends || !outcomes[name] || outcomes[name].error) continue;
      const { text, values } = ends(world);
      if ((await db.query(text, [...values])).rowCount !== 0)
        throw new Error(`"${name}" was answered, and what it ended goes on`);
    }
    await options.check?.(outcomes);
  }

  return {
    world,

    /** Explores acts at the same time. One that is named twice is done twice. @throws BrokenPromiseError. */
    async explore(
      names: readonly string[],
      all: Readonly<Record<string, Act<Context, World>>>,
    ): Promise<ActsReport> {
      const acts = Object.fromEntries(
        names.map((name, index): [string, Act<Context, World>] => [
          names.indexOf(name) < index ? `${name} again` : name,
          all[name] as Act<Context, World>,
        ]),
      );
      const succeeded = new Set<string>();
      const refusals = new Map<string, string>();
      const exploration: Exploration<Context, World> = {
        prepare: async () => {
          await restore();
          return world;
        },
        actors: Object.fromEntries(Object.entries(acts).map(([name, { run }]) => [name, run])),
        mayFail,
        share,
        checkStep: (_world, outcomes) => check(acts, outcomes),
        async checkEnd(_world, outcomes) {
          for (const [name, outcome] of Object.entries(outcomes))
            if (outcome?.error) refusals.set(name, outcome.error.message);
            else succeeded.add(name);
        },
      };
      const report = await explorer.explore(exploration);
      return { ...report, refused: [...refusals].filter(([name]) => !succeeded.has(name)) };
    },

    /** Brings the rows back as they were, and closes the connections of the actors. */
    async close(): Promise<void> {
      await explorer.close();
      await restore();
    },
  };
}
