import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminSession } from './admin-session.js';

/** The address of the SMTP catcher. */
interface SmtpDefault {
  readonly dataDir: string;
  readonly smtpPort: number;
}

interface SmtpConfiguration {
  readonly host: string;
  readonly port: number;
}

/**
 * The file that stores the port that an earlier start configured, so that a server that a user chose is never
 * mistaken for the catcher.
 */
const PORT_FILE = 'smtp-catcher-port';
/** The catcher's configuration, except for the port. */
const CATCHER = { host: '127.0.0.1', fromEmail: 'noreply@example.com', tls: 'none' } as const;
const CONFIG_PATH = '/api/v1/configurationManager/smtpConfig';

/**
 * Configures the SMTP catcher for the first organisation if it has no SMTP server, or has the catcher of an earlier
 * start on another port. Never replaces a configuration that a user chose.
 *
 * @returns a note for the user, if there is one.
 */
export async function setSmtpDefault(
  { call }: AdminSession,
  { dataDir, smtpPort }: SmtpDefault,
): Promise<string | undefined> {
  const current = await call('GET', CONFIG_PATH);
  const smtp = current.ok ? ((await current.json()) as { smtp: SmtpConfiguration }).smtp : undefined;
  const isOurs = smtp?.host === CATCHER.host && smtp.port === (await readKeptPort(dataDir));
  if (smtp?.host === CATCHER.host && smtp.port === smtpPort) return keepPort(dataDir, smtpPort);
  if (smtp && !isOurs)
    return `the organisation's SMTP server is ${smtp.host}:${smtp.port}, so its mail does not come to the inbox.`;
  if (!smtp && current.status !== 404)
    return `the organisation's SMTP server can't be read: ${current.status}.`;
  const saved = await call('POST', CONFIG_PATH, { ...CATCHER, port: smtpPort });
  if (!saved.ok) return `the organisation's SMTP server can't be set: ${await saved.text()}`;
  return keepPort(dataDir, smtpPort);
}

const readKeptPort = async (dataDir: string): Promise<number> =>
  Number(await readFile(join(dataDir, PORT_FILE), 'utf8').catch(() => 'none'));

async function keepPort(dataDir: string, smtpPort: number): Promise<undefined> {
  await writeFile(join(dataDir, PORT_FILE), String(smtpPort));
}
