import { inTransaction } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { cancelRun } from '../../src/db/cancel-run.js';
import { claimWork } from '../../src/db/claim-runs.js';
import { ringHook } from '../../src/db/hooks.js';
import { insertRequestedRun } from '../../src/db/runs.js';
import { resumePaused } from '../../src/db/resume-schedule.js';
import { findSchedule, pauseSchedule, removeSchedules } from '../../src/db/schedules.js';
import { finishSlice, recordHeartbeat } from '../../src/api/work/service.js';
import { resetConnectorState } from '../../src/db/work.js';
import { actor, at, times } from '../support/run-rows.js';
import { type Act, ENDED, HOLDER, type Parts, type World } from './acting.js';

/* What workers, administrators and the dispatcher do in the organisation of `acting.ts`. */

const act = { actor, at: new Date(at) };
const claimOf = ({ orgId, run }: World) => ({ orgId, runId: run.id, holder: HOLDER, connectors: undefined });
const refused = () => Object.assign(new Error('refused'), { code: 'REFUSED' });

/** Ends the slice of the worker that pulls. */
const finish =
  (body: Omit<Parameters<typeof finishSlice>[2], 'lease'>) =>
  async ({ work }: Parts, world: World) => {
    await finishSlice(work, claimOf(world), { lease: world.run.lease, ...body });
    return ENDED;
  };
const inProgressOf = (id: string) => ({
  text: `select from runs where id = $1 and state in ('waiting', 'active', 'retrying')`,
  values: [id],
});
const activeOf = (connector: string) => (world: World) => ({
  text: `select from schedules where org_id = $1 and connector = $2 and state = 'active'`,
  values: [world.orgId, connector],
});
const pause = (connector: 'files_1' | 'db_1' | 'mail_1' | 'wiki_1'): Act => ({
  run: async ({ pool }, { key }) => pauseSchedule(pool, { ...key(connector), at: new Date(at) }, act),
  ends: activeOf(connector),
});
/** Locks a row, as any statement before it might, so that others wait in the middle of theirs. */
const hold = (table: 'runs' | 'schedules' | 'connector_states', connector: string): Act => ({
  run: ({ pool }, { orgId }) =>
    inTransaction(pool, (tx) =>
      tx.query(`select from ${table} where org_id = $1 and connector = $2 for no key update`, [
        orgId,
        connector,
      ]),
    ),
});

export const acts = {
  'the worker reports': {
    run: ({ work }, world) =>
      recordHeartbeat(work, claimOf(world), { lease: world.run.lease, checkpoint: '2', counters: { items: 1 }, log: ['a line'] }),
  },
  'the worker completes': { run: finish({ state: 'completed', counters: { items: 1 } }) },
  'the worker fails': { run: finish({ state: 'failed', reason: 'no', retry: false }) },
  'the worker continues': { run: finish({ state: 'continue' }) },
  'the worker hands back': { run: finish({ state: 'released' }) },
  'the worker is lost': { run: (parts) => parts.later(times.leaseMs + 1).dispatch() },
  'another worker claims': {
    async run({ pool }, { orgId }) {
      const given = { orgId, connectors: ['files_1' as const], instances: undefined, worker: 'second', lease: 'second', holder: HOLDER };
      const now = at + times.leaseMs + 1;
      const run = await claimWork(pool, { ...given, at: new Date(now), leaseUntil: new Date(now + times.leaseMs) });
      if (!run) throw refused();
    },
  },
  'an administrator cancels the run': {
    run: ({ pool }, { key, run }) => cancelRun(pool, { ...key('files_1'), runId: run.id }, new Date(at), act),
    ends: ({ run }) => inProgressOf(run.id),
  },
  'an administrator pauses the schedule': pause('files_1'),
  'an administrator removes the schedules': {
    run: ({ pool }, { orgId }) => removeSchedules(pool, { orgId, at: new Date(at) }, act),
    ends: ({ orgId }) => ({ text: 'select from schedules where org_id = $1', values: [orgId] }),
  },
  'an administrator removes the instance': {
    run: ({ pool }, { key }) => removeSchedules(pool, { ...key('files_1'), at: new Date(at) }, act, 'with instances'),
    ends: ({ run }) => ({ text: 'select from runs where id = $1', values: [run.id] }),
  },
  'an administrator resets the state': { run: ({ pool }, { key }) => resetConnectorState(pool, key('files_1'), act) },
  'an administrator requests a run': {
    async run({ pool }, { pulled }) {
      const requestedBy = { id: actor.actorId, name: 'Ada' };
      const run = { id: uuidv7(), scheduleId: pulled.id, at: new Date(at), requestId: 'r', mode: undefined, requestedBy, traceparent: undefined };
      if (!(await insertRequestedRun(pool, run, act))) throw refused();
    },
  },
  'the source rings': {
    run: ({ pool }, { hookId }) => ringHook(pool, { id: hookId, at: new Date(at), dueAt: new Date(at), maxPerMinute: 60 }),
  },
  'the dispatcher dispatches': { run: (parts) => parts.dispatch() },
  'another dispatcher dispatches': { run: (parts) => parts.dispatch() },
  'the one-off run completes': { run: ({ lifecycle }, { onceRun }) => lifecycle.complete(onceRun) },
  'an administrator pauses the one-off schedule': pause('db_1'),
  'an administrator cancels the one-off run': {
    run: ({ pool }, { key, onceRun }) => cancelRun(pool, { ...key('db_1'), runId: onceRun.id }, new Date(at), act),
    ends: ({ onceRun }) => inProgressOf(onceRun.id),
  },
  'the place is claimed': { run: ({ lifecycle }) => lifecycle.claim('wiki_1') },
  'the place is claimed elsewhere': { run: ({ lifecycle }) => lifecycle.claim('wiki_1') },
  'an administrator pauses what waits': pause('wiki_1'),
  'an administrator pauses what is due': pause('mail_1'),
  'an administrator resumes the schedule': {
    async run({ pool }, { key }) {
      const paused = await findSchedule(pool, key('chat_1'));
      if (!paused || !(await resumePaused(pool, paused, { after: at, now: at, act }))) throw refused();
    },
  },
  'an administrator resumes it, too': {
    async run({ pool }, { key }) {
      const paused = await findSchedule(pool, key('chat_1'));
      if (!paused || !(await resumePaused(pool, paused, { after: at, now: at, act }))) throw refused();
    },
  },
  'the worker of the cancelled run reports': {
    run: ({ work }, { orgId, cancelled }) =>
      recordHeartbeat(
        work,
        { orgId, runId: cancelled.id, holder: HOLDER, connectors: undefined },
        { lease: cancelled.lease, checkpoint: '2' },
      ),
  },
  'an administrator resets the state of the cancelled run': {
    run: ({ pool }, { key }) => resetConnectorState(pool, key('suite_1'), act),
  },
  'an administrator removes the instance of the cancelled run': {
    run: ({ pool }, { key }) =>
      removeSchedules(pool, { ...key('suite_1'), at: new Date(at) }, act, 'with instances'),
    ends: ({ cancelled }) => ({ text: 'select from runs where id = $1', values: [cancelled.id] }),
  },
  'a lock on the cancelled run': hold('runs', 'suite_1'),
  'a lock on the run': hold('runs', 'files_1'),
  'a lock on the schedule': hold('schedules', 'files_1'),
  'a lock on the state': hold('connector_states', 'files_1'),
} satisfies Record<string, Act>; // oxfmt-ignore
