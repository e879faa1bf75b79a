import type { Options } from '../options.mjs';
import type { AdminChoice } from './admin.js';
import { type AdminSession, withAdminSession } from './admin-session.js';
import { disableDemoMount, MOUNT_NAME, mountDemoServer } from './demo-knowledge/mount.js';
import { startDemoServer } from './demo-knowledge/server.js';
import type { LaunchError } from './launch-error.js';
import type { ReadyFacts } from './ready-message.js';
import { setSmtpDefault } from './smtp-default.js';
import type { Teardown } from './teardown.js';

interface Context {
  readonly options: Options;
  readonly teardown: Teardown;
  readonly signal: AbortSignal;
  onCrash(error: LaunchError): void;
}

interface Setup {
  readonly identityUrl: string;
  readonly databaseServerUrl: string;
  readonly logsDir: string;
  readonly admin: AdminChoice;
  /** Undefined without --demo-knowledge. */
  readonly demoUrl: URL | undefined;
}

type Result = Pick<ReadyFacts, 'notes' | 'knowledge'>;

const DEFAULT_ISSUER = 'workspace-platform';

/** Sets up, as the first organisation's admin, what only this machine needs: the inbox, and the demo server. */
export async function setUpOrganisation(context: Context, setup: Setup): Promise<Result> {
  const { dataDir, knowledgeFolder, smtpCatcherPort: smtpPort } = context.options;
  const { email, password } = setup.admin;
  const explain = (reason: string): Result => ({
    notes: [
      `${reason}, so the organisation's SMTP server was not looked at.`,
      ...(knowledgeFolder === undefined ? [] : [`${reason}, so that --demo-knowledge has no effect.`]),
    ],
  });
  // An earlier start, which knew the password, has configured the SMTP server already.
  if (password === undefined)
    return knowledgeFolder === undefined
      ? { notes: [] }
      : { notes: ['--demo-knowledge has no effect without --admin-password, which is not kept.'] };
  const done = await withAdminSession(setup.identityUrl, { email, password }, async (session) => {
    const smtpNote = await setSmtpDefault(session, { dataDir, smtpPort });
    const { notes, knowledge } = await setUpKnowledge(session, context, setup);
    return {
      notes: [...(smtpNote === undefined ? [] : [smtpNote]), ...notes],
      ...(knowledge && { knowledge }),
    };
  });
  return done ?? explain(`the password kept for ${email} doesn't log in any more`);
}

async function setUpKnowledge(session: AdminSession, context: Context, setup: Setup): Promise<Result> {
  const { options } = context;
  const { dataDir, knowledgeFolder: folder } = options;
  const { demoUrl: url, identityUrl, databaseServerUrl, logsDir } = setup;
  if (folder === undefined || url === undefined) {
    await disableDemoMount(session, dataDir);
    return { notes: [] };
  }
  const issuer = options.environment['TOKEN_ISSUER'] || DEFAULT_ISSUER;
  const { orgId } = session;
  const files = await startDemoServer(
    { folder, url, identityUrl, issuer, orgId, databaseServerUrl, logsDir },
    context,
  );
  try {
    await mountDemoServer(session, dataDir, url.href);
  } catch (error) {
    return {
      notes: [`the demo server can't be mounted as ${MOUNT_NAME}: ${(error as Error).message}.`],
    };
  }
  const notes =
    files === 0 ? [`${folder} has no Markdown files yet; new ones are found within seconds.`] : [];
  return { notes, knowledge: { folder, files } };
}
