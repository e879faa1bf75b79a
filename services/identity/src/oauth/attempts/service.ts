import { type Clock, HOUR_MS } from '@platform/service-kit';
import type { UserPrincipal } from '@platform/auth';
import type pg from 'pg';
import { Type } from 'typebox';
import { toAttemptNetwork } from './journal.js';
import {
  findCallers,
  findClientNames,
  findEmails,
  findOrganisationSteps,
  findSteps,
} from './attempts.sql.js';
import { type Attempt, findStuckStep, type RecordedStep, steps, toAttempts } from './steps.js';

/** What belongs to nobody is shown, and kept, for so long. */
export const UNOWNED_MS = 2 * HOUR_MS;
const MAX_ATTEMPTS = 20;

const Instant = Type.String({ format: 'date-time' });
const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const StepName = Type.Enum([...steps]);

const ConnectionAttempt = Type.Object(
  {
    client: Nullable('The host of the client id, or the client id; null while none is known.'),
    name: Nullable(
      'The name of the client, which may be by its own account; null before a member has signed in.',
    ),
    userAgent: Nullable('What the client, or the browser, said it is.'),
    userId: Nullable('The member who signed in; null while nobody has.'),
    email: Nullable('The address of that member.'),
    startedAt: Instant,
    lastAt: Instant,
    steps: Type.Array(Type.Object({ step: StepName, at: Instant })),
    fault: Nullable('The code of what went wrong at the last step.'),
    stuckAt: Type.Union([StepName, Type.Null()], {
      description: 'The step that failed, or the first that is missing; null after the first call.',
    }),
  },
  { title: 'ConnectionAttempt' },
);
type ConnectionAttempt = Type.Static<typeof ConnectionAttempt>;
export const Attempts = Type.Object({ data: Type.Array(ConnectionAttempt) });
export type Attempts = Type.Static<typeof Attempts>;

function toClient(clientId: string | null): string | null {
  const url = clientId === null ? null : URL.parse(clientId);
  return url?.host || clientId;
}

const byStep = (recorded: readonly RecordedStep[]) => [
  ...new Map(recorded.map(({ step, at }) => [step, { step, at: at.toISOString() }])).values(),
];

async function describeAttempts(
  pool: pg.Pool,
  orgId: string,
  recorded: readonly RecordedStep[],
): Promise<ConnectionAttempt[]> {
  const attempts = toAttempts(recorded).slice(0, MAX_ATTEMPTS);
  const toWanted = ({ clientId, recorded: own }: Attempt) => {
    const token = own.find(({ step }) => step === 'token');
    const userId = token?.userId ?? null;
    return token && clientId !== null && userId !== null ? { clientId, userId, since: token.at } : undefined;
  };
  const wanted = attempts.map(toWanted);
  const owned = attempts.filter(({ recorded: own }) => own.some(({ userId }) => userId !== null));
  const names = await findClientNames(
    pool,
    owned.flatMap(({ clientId }) => clientId ?? []),
  );
  const emails = await findEmails(
    pool,
    orgId,
    owned.flatMap(({ recorded: own }) => own.flatMap(({ userId }) => userId ?? [])),
  );
  const called = await findCallers(
    pool,
    wanted.filter((one) => one !== undefined),
  );
  let next = 0;
  return attempts.map((attempt, index) => {
    const hasCalled = wanted[index] !== undefined && called[next++] === true;
    const [first] = attempt.recorded;
    const last = attempt.recorded.at(-1);
    const userId = attempt.recorded.findLast((step) => step.userId !== null)?.userId ?? null;
    return {
      client: toClient(attempt.clientId),
      name: (owned.includes(attempt) && names.get(attempt.clientId ?? '')) || null,
      userAgent: first?.userAgent ?? null,
      userId,
      email: (userId !== null && emails.get(userId)) || null,
      startedAt: first?.at.toISOString() ?? '',
      lastAt: last?.at.toISOString() ?? '',
      steps: byStep(attempt.recorded),
      fault: last?.fault ?? null,
      stuckAt: findStuckStep(attempt, hasCalled) ?? null,
    };
  });
}

/** Lists the latest attempts of a member, and those of nobody from the address, the newest first. */
export async function listAttempts(
  { pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock },
  { userId, orgId }: UserPrincipal,
  address: string,
): Promise<Attempts> {
  const of = { userId, orgId, network: toAttemptNetwork(address) };
  const since = new Date(clock() - UNOWNED_MS);
  return { data: await describeAttempts(pool, orgId, await findSteps(pool, of, since)) };
}

/** Lists the latest attempts of all members of the organisation, the newest first. */
export async function listOrganisationAttempts(pool: pg.Pool, { orgId }: UserPrincipal): Promise<Attempts> {
  return { data: await describeAttempts(pool, orgId, await findOrganisationSteps(pool, orgId)) };
}
