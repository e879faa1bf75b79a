import type { App } from '@platform/service-kit';
import type pg from 'pg';
import type { SecretBox } from '../../secret-box.js';
import { createAttemptLimits } from '../attempt-limits/attempt-limits.js';
import { createRecordSignIn } from '../known-devices/service.js';
import { createFindOrganisationName } from '../organisations/names.js';
import { createOpenSession } from '../sessions/open-session.js';
import { createAddFactor } from './add-factor.js';
import { createEnrolAtSignIn, type EnrolAtSignInDeps } from './enrol-at-sign-in.js';
import { createEnrolments } from './enrolment.js';
import { createAddNotice } from './notices.js';
import { createPendingSignIns } from './pending.js';
import { createChangeWithProof, type ProofDeps } from './proof.js';
import { createResetSecondFactor } from './reset.js';
import { memberSecondFactorRoutes, ownSecondFactorRoutes, secondFactorLoginRoutes } from './routes.js';
import { createOwnSecondFactor, type OwnSecondFactor, type OwnSecondFactorDeps } from './service.js';
import { createSignInSteps, type SignInStepDeps, type SignInSteps } from './sign-in.js';
import { createVerifyCode } from './verify.js';

/** What the feature makes for itself. */
type Made =
  | 'addFactor'
  | 'addNotice'
  | 'changeWithProof'
  | 'enrolAtSignIn'
  | 'enrolments'
  | 'findName'
  | 'limits'
  | 'openSession'
  | 'pending'
  | 'verifyCode';

/**
 * Registers the second step of a sign-in, the own second factor, and its reset.
 *
 * @returns the steps that every first factor goes on to: they alone can open a session.
 */
export function registerSecondFactor(
  app: App,
  deps: Omit<SignInStepDeps & EnrolAtSignInDeps & OwnSecondFactorDeps & ProofDeps, Made> &
    Omit<Parameters<typeof createOpenSession>[0], 'recordSignIn'> & {
      readonly box: SecretBox;
      readonly pool: pg.Pool;
    },
): { readonly signInSteps: SignInSteps; readonly ownSecondFactor: OwnSecondFactor } {
  const { pool, outbox } = deps;
  const addNotice = createAddNotice(outbox);
  const common = {
    ...deps,
    addNotice,
    addFactor: createAddFactor({ box: deps.box, addNotice }),
    pending: createPendingSignIns(deps),
    openSession: createOpenSession({ ...deps, recordSignIn: createRecordSignIn(outbox) }),
    verifyCode: createVerifyCode({ box: deps.box, addNotice }),
    enrolments: createEnrolments(deps),
    findName: createFindOrganisationName(pool),
    // The limit of an account is counted with its authenticator app, by the day.
    limits: createAttemptLimits(pool, {
      name: 'second-factor',
      perPair: 10,
      perAddress: 100,
      message: 'Too many wrong codes: try again later',
    }),
  };
  const signInSteps = createSignInSteps({
    ...common,
    enrolAtSignIn: createEnrolAtSignIn(common),
  });
  const ownSecondFactor = createOwnSecondFactor({
    ...common,
    changeWithProof: createChangeWithProof(common),
  });
  secondFactorLoginRoutes(app, signInSteps);
  ownSecondFactorRoutes(app, ownSecondFactor);
  memberSecondFactorRoutes(app, createResetSecondFactor(common));
  return { signInSteps, ownSecondFactor };
}
