import { text as readAll } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';
import { smtp } from './submission.js';

/*
 * What the service is measured against, on the core of the server: nodemailer with rendered HTML and text,
 * pooled, and a transport per mail as the direct peer makes one. Prints mails per second.
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
/** What the service sends, ready made. */
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

// A pool's connections are there when a mail comes, as those of the service are.
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
