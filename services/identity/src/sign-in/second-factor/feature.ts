import type { App, SecretBox } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { createRecordSignIn } from '../known-devices/service.js';
import { createFindOrganisationName } from '../../members/organisation/names.js';
import { toRelyingParty } from '../passkeys/relying-party.js';
import { createOpenSession } from '../sessions/open-session.js';
import { createAddFactor } from './add-factor.js';
import { createConcludeRemoval } from './conclude-removal.js';
import { createEnrolAtSignIn, type EnrolAtSignInDeps } from './enrol-at-sign-in.js';
import { createEnrolments } from './enrolment.js';
import { passkeyLoginRoutes, secondFactorLoginRoutes } from './login.routes.js';
import { createAddNotice } from './notices.js';
import { createOwnPasskeys, type OwnPasskeys } from './own-passkeys.js';
import { ownPasskeyRoutes } from './passkey.routes.js';
import { createPendingSignIns } from './pending.js';
import { createChangeWithProof, type ProofDeps } from './proof.js';
import { createResetSecondFactor } from './reset.js';
import { memberSecondFactorRoutes, ownSecondFactorRoutes } from './routes.js';
import { createOwnSecondFactor, type OwnSecondFactor, type OwnSecondFactorDeps } from './service.js';
import { createSignInSteps, type SignInStepDeps, type SignInSteps } from './sign-in.js';
import { createVerifyFactor } from './verify.js';

/** The dependencies that the feature creates itself. */
type Made =
  | 'addFactor'
  | 'addNotice'
  | 'changeWithProof'
  | 'concludeRemoval'
  | 'enrolAtSignIn'
  | 'enrolments'
  | 'findName'
  | 'limits'
  | 'openSession'
  | 'pending'
  | 'relyingParty'
  | 'verifyFactor';

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
      readonly config: { readonly PUBLIC_URL: string };
      readonly pool: pg.Pool;
    },
): {
  readonly signInSteps: SignInSteps;
  readonly ownSecondFactor: OwnSecondFactor;
  readonly ownPasskeys: OwnPasskeys;
} {
  const { pool, outbox, config } = deps;
  const relyingParty = toRelyingParty(config.PUBLIC_URL);
  const addNotice = createAddNotice(outbox);
  const common = {
    ...deps,
    addNotice,
    addFactor: createAddFactor({ box: deps.box, addNotice }),
    pending: createPendingSignIns(deps),
    openSession: createOpenSession({ ...deps, recordSignIn: createRecordSignIn(outbox) }),
    verifyFactor: createVerifyFactor({ box: deps.box, relyingParty, addNotice }),
    relyingParty,
    concludeRemoval: createConcludeRemoval(addNotice),
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
  const changeWithProof = createChangeWithProof(common);
  const ownSecondFactor = createOwnSecondFactor({ ...common, changeWithProof });
  const ownPasskeys = createOwnPasskeys({ ...common, changeWithProof });
  secondFactorLoginRoutes(app, signInSteps);
  passkeyLoginRoutes(app, signInSteps);
  ownSecondFactorRoutes(app, ownSecondFactor);
  ownPasskeyRoutes(app, ownPasskeys);
  memberSecondFactorRoutes(app, createResetSecondFactor(common));
  return { signInSteps, ownSecondFactor, ownPasskeys };
}
