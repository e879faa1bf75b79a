import { createRandom } from '@platform/testing';

/** The processes of the platform: three services, crawl with its API and its workers apart, two replicas of each. */
export const PROGRAMS = ['identity', 'mail', 'crawl', 'worker'] as const;
export type Program = (typeof PROGRAMS)[number];
const REPLICAS = 2;
export const PROCESSES = PROGRAMS.flatMap((program) =>
  Array.from({ length: REPLICAS }, (_, index) => `${program} ${index + 1}`),
);
/** What a fault stops or kills. The second broker leads some of the partitions, and has no other part. */
const STORES = ['PostgreSQL', 'Redis', 'Kafka', 'Kafka broker 2'] as const;
/** The connections that go through a proxy: to the stores, of all processes or of one, to the SMTP server, and among the services. */
export const LINKS = [
  'PostgreSQL',
  ...PROGRAMS.map((name) => `PostgreSQL of ${name} 2` as const),
  'Redis',
  'Kafka',
  'SMTP',
  'services',
];

/** Kinds of faults, each with what it can befall. */
const KINDS = {
  kill: { targets: PROCESSES, length: 'none', starts: 1 },
  pause: { targets: PROCESSES, length: 'long' },
  'clock ahead': { targets: PROCESSES, length: 'short', starts: 2 },
  'clock behind': { targets: PROCESSES, length: 'short', starts: 2 },
  'disk full': { targets: PROCESSES, length: 'short', starts: 2 },
  'kill store': { targets: STORES, length: 'short', starts: 1 },
  'stop store': { targets: STORES, length: 'short', starts: 1 },
  'fail over': { targets: ['Redis'], length: 'none' },
  'stop SMTP': { targets: ['SMTP'], length: 'short' },
  slow: { targets: LINKS, length: 'short' },
  cut: { targets: LINKS, length: 'short' },
  'half-open': { targets: LINKS, length: 'short' },
} as const satisfies Record<string, Kind>;
interface Kind {
  readonly targets: readonly string[];
  readonly length: keyof typeof MAX_SECONDS;
  /** How often something is started again. */
  readonly starts?: number;
}
export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

/** The longest pause outlasts the default lease of a run. */
const MAX_SECONDS = { none: 0, short: 12, long: 40 } as const;
/** A fault takes at most this part of its plan, so that a short plan has several. */
const MAX_SHARE = 0.15;
/** About what a start takes; it may take longer. */
const START_SECONDS = 4;
const WARM_UP_SECONDS = 5;
const MAX_DELAY_MS = 500;

/** A fault, before it is brought about. */
export interface PlannedFault {
  readonly seed: number;
  /** Since the start of the workload. It begins later when the fault before it was mended too late for the pause. */
  readonly atSeconds: number;
  readonly kind: FaultKind;
  readonly target: string;
  /** How long it lasts; 0 for one that is over at once. */
  readonly seconds: number;
  /** By how much a slow connection delays each chunk. */
  readonly delayMs?: number;
}

export interface PlanOptions {
  /** For all seeds together. */
  readonly seconds: number;
  /** The pause after each fault, in which the platform recovers. */
  readonly calmSeconds: number;
}

/** Plans faults one after the other: each seed's in an equal part of the time. The same seeds have the same plan. */
export function planFaults(seeds: readonly number[], options: PlanOptions): readonly PlannedFault[] {
  const seconds = options.seconds / seeds.length;
  return seeds.flatMap((seed, index) => planPart(seed, index * seconds, { ...options, seconds }));
}

function planPart(seed: number, startSeconds: number, { seconds, calmSeconds }: PlanOptions): PlannedFault[] {
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const faults: PlannedFault[] = [];
  // Every kind comes once before one comes again.
  let kinds: FaultKind[] = [];
  for (let atSeconds = WARM_UP_SECONDS; ;) {
    if (kinds.length === 0) kinds = [...FAULT_KINDS];
    const kind = pick(kinds);
    kinds = kinds.filter((one) => one !== kind);
    const { targets, length, starts = 0 }: Kind = KINDS[kind];
    const longest = Math.min(MAX_SECONDS[length], Math.floor(seconds * MAX_SHARE));
    const lasts = longest === 0 ? 0 : 1 + Math.floor(random() * longest);
    const target = pick(targets);
    const delayMs = 50 * (1 + Math.floor((random() * MAX_DELAY_MS) / 50));
    const next = atSeconds + lasts + starts * START_SECONDS + calmSeconds;
    if (next > seconds) return faults;
    faults.push({
      seed,
      atSeconds: startSeconds + atSeconds,
      kind,
      target,
      seconds: lasts,
      ...(kind === 'slow' && { delayMs }),
    });
    atSeconds = next;
  }
}

/** Describes a fault in one line. */
export const describeFault = ({ kind, target, seconds, delayMs }: PlannedFault): string =>
  [`${kind}: ${target}`, delayMs && `by ${delayMs} ms`, seconds > 0 && `for ${seconds} s`]
    .filter(Boolean)
    .join(', ');

/** Renders a plan for people: one fault a line. */
export const renderPlan = (faults: readonly PlannedFault[]): string =>
  faults
    .map(
      (fault) => `${fault.atSeconds.toFixed(0).padStart(5)} s  seed ${fault.seed}  ${describeFault(fault)}`,
    )
    .join('\n');
