import { text as readAll } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';
import { smtp } from './submission.js';

/*
 * The baseline, on the server's core: nodemailer alone with a rendered mail, either with a connection pool or with a new
 * transport for each mail. Prints mails per second.
 *
 *   node raw.js <pooled|transport-per-mail> <sink's port> <in flight> <seconds> < {html, text}
 */
const [kind, port, inFlight, seconds] = process.argv.slice(2);
const options = {
  host: smtp.host,
  port: Number(port),
  secure: false,
  requireTLS: true,
  auth: { user: smtp.username, pass: smtp.password },
} as const;
const pooled = createTransport({ ...options, pool: true, maxConnections: 5, maxMessages: Infinity });
/** The mail as the service renders it. */
const parts = JSON.parse(await readAll(process.stdin)) as { readonly html: string; readonly text: string };
const message = { from: smtp.fromEmail, to: 'to@example.com', subject: 'Your code', ...parts };

async function sendOne(): Promise<void> {
  if (kind === 'pooled') await pooled.sendMail(message);
  else {
    const transport = createTransport(options);
    await transport.sendMail(message);
    transport.close();
  }
}

// Open the pool's connections first: the service's are open too when the load starts.
if (kind === 'pooled') await Promise.all(Array.from({ length: Number(inFlight) }, sendOne));
const startedAt = performance.now();
const endsAt = startedAt + Number(seconds) * 1_000;
let sent = 0;
await Promise.all(
  Array.from({ length: Number(inFlight) }, async () => {
    while (performance.now() < endsAt) {
      await sendOne();
      sent += 1;
    }
  }),
);
process.stdout.write(String((sent / (performance.now() - startedAt)) * 1_000));
pooled.close();
process.exit(0);
