import type { AdminChoice } from './admin.js';
import { type AdminSession, withAdminSession } from './admin-session.js';
import { type DemoContext, type DemoSetup, setUpDemo } from './demo/demo.js';
import { comparePeople } from './demo/people.js';
import type { ReadyFacts } from './ready-message.js';
import { setSmtpDefault } from './smtp-default.js';

type Setup = DemoSetup & { readonly admin: AdminChoice };

type Result = Pick<ReadyFacts, 'notes' | 'demo' | 'comparison'>;

/** Sets up, as the first organisation's admin, what only this machine needs: the inbox, and the demo. */
export async function setUpOrganisation(context: DemoContext, setup: Setup): Promise<Result> {
  const { dataDir, demo, smtpCatcherPort: smtpPort } = context.options;
  const { email, password } = setup.admin;
  // An earlier start, which knew the password, has configured the SMTP server already.
  if (password === undefined)
    return {
      notes: demo ? ['the demo needs --admin-password, which is not kept; --no-demo leaves it out.'] : [],
    };
  const done = await withAdminSession(setup, { email, password }, async (session) => {
    const smtpNote = await setSmtpDefault(session, { dataDir, smtpPort });
    const { notes, ...result } = await tryDemo(session, context, setup);
    return { notes: [...(smtpNote === undefined ? [] : [smtpNote]), ...notes], ...result };
  });
  const people = done?.demo?.people;
  if (done && people)
    return {
      ...done,
      // The platform is ready without it.
      comparison: comparePeople(setup, { email, password }, people, context.signal).catch(() => undefined),
    };
  const reason = `the password kept for ${email} doesn't log in any more`;
  return (
    done ?? {
      notes: [
        `${reason}, so the organisation's SMTP server was not looked at.`,
        ...(demo ? [`${reason}, so the demo does not run.`] : []),
      ],
    }
  );
}

/** The platform is ready without the demo, too. */
async function tryDemo(session: AdminSession, context: DemoContext, setup: Setup): Promise<Result> {
  try {
    const demo = await setUpDemo(session, context, setup);
    return { notes: [], ...(demo && { demo }) };
  } catch (error) {
    context.signal.throwIfAborted();
    return { notes: [`the demo does not run: ${(error as Error).message}`] };
  }
}
