import { readFileSync } from 'node:fs';
import fastify from 'fastify';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { type Letter, smtp } from './submission.js';

/*
 * The least that keeps what the service promises of a mail, written plainly: a route that stores the request, sends a
 * rendered mail with pooled nodemailer, and answers once it is sent. Its row shows after a crash whether the mail was
 * only stored, may have been sent, or was sent. Tokens, templates, retries, turns of organisations and outcomes per
 * recipient are not there.
 *
 *   node plain-queue.js <port> <sink's port> <sink's certificate> <database's URL> <{html, text}>
 */
const [port, sinkPort, certificate = '', connectionString, rendered = ''] = process.argv.slice(2);
const parts = JSON.parse(rendered) as { readonly html: string; readonly text: string };
const pool = new pg.Pool({ connectionString, max: 20 });
await pool.query(`
  create table mails (
    id bigint generated always as identity primary key,
    state text not null,
    request jsonb,
    changed_at timestamptz not null default now()
  )`);
const transport = createTransport({
  host: smtp.host,
  port: Number(sinkPort),
  secure: false,
  requireTLS: true,
  tls: { ca: readFileSync(certificate) },
  auth: { user: smtp.username, pass: smtp.password },
  pool: true,
  maxConnections: 5,
  maxMessages: Infinity,
});

const app = fastify();
app.post<{ Body: Letter }>('/', async ({ body }) => {
  const { rows } = await pool.query<{ id: string }>(
    `insert into mails (state, request) values ('queued', $1) returning id`,
    [JSON.stringify(body)],
  );
  const values = [rows[0]?.id];
  await pool.query(`update mails set state = 'sending', changed_at = now() where id = $1`, values);
  const [to] = body.sendEmailTo;
  await transport.sendMail({ from: smtp.fromEmail, to, subject: body.subject, ...parts });
  await pool.query(
    `update mails set state = 'sent', request = null, changed_at = now() where id = $1`,
    values,
  );
  return { message: 'Email sent' };
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
console.log('ready');
