import { getMember, requireSession } from '@platform/auth';
import { type App, type Clock, errorResponses, HOUR_MS } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { toAttemptNetwork } from './journal.js';
import { findCallers, findClientNames, findOrganisationSteps, findSteps } from './queries.js';
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
const Attempts = Type.Object({ data: Type.Array(ConnectionAttempt) });

function toClient(clientId: string | null): string | null {
  const url = clientId === null ? null : URL.parse(clientId);
  return url?.host || clientId;
}

const byStep = (recorded: readonly RecordedStep[]) => [
  ...new Map(recorded.map(({ step, at }) => [step, { step, at: at.toISOString() }])).values(),
];

async function describeAttempts(
  pool: pg.Pool,
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
  const called = await findCallers(
    pool,
    wanted.filter((one) => one !== undefined),
  );
  let next = 0;
  return attempts.map((attempt, index) => {
    const hasCalled = wanted[index] !== undefined && called[next++] === true;
    const [first] = attempt.recorded;
    const last = attempt.recorded.at(-1);
    return {
      client: toClient(attempt.clientId),
      name: (owned.includes(attempt) && names.get(attempt.clientId ?? '')) || null,
      userAgent: first?.userAgent ?? null,
      userId: attempt.recorded.findLast(({ userId }) => userId !== null)?.userId ?? null,
      startedAt: first?.at.toISOString() ?? '',
      lastAt: last?.at.toISOString() ?? '',
      steps: byStep(attempt.recorded),
      fault: last?.fault ?? null,
      stuckAt: findStuckStep(attempt, hasCalled) ?? null,
    };
  });
}

/**
 * Registers what the authorization server and the tool endpoint saw of each attempt to connect. Members with a session see their
 * own, and what came from their network within two hours and belongs to nobody; administrators see those of all members.
 */
export function registerAttempts(
  app: App,
  { pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock },
): void {
  const base = '/api/v1/agents/attempts';
  app.get(
    base,
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'listConnectionAttempts',
        tags: ['Agents'],
        summary: 'The latest attempts to connect an agent of the caller, and the step at which each is stuck',
        response: { 200: Attempts, ...errorResponses(401, 403) },
      },
    },
    async (request) => {
      const { userId, orgId } = getMember(request);
      const of = { userId, orgId, network: toAttemptNetwork(request.ip) };
      return {
        data: await describeAttempts(pool, await findSteps(pool, of, new Date(clock() - UNOWNED_MS))),
      };
    },
  );
  app.get(
    `${base}/all`,
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      schema: {
        operationId: 'listOrganisationConnectionAttempts',
        tags: ['Agents'],
        summary: 'The latest attempts of members of the organisation to connect an agent',
        response: { 200: Attempts, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      data: await describeAttempts(pool, await findOrganisationSteps(pool, getMember(request).orgId)),
    }),
  );
}
