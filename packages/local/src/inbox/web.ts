import { readFile } from 'node:fs/promises';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import PostalMime, { type Email } from 'postal-mime';
import type { CaughtMail, Mailbox } from './mailbox.js';

const PAGE_FILES = [
  ['/', 'index.html', 'text/html'],
  ['/inbox.js', 'inbox.js', 'text/javascript'],
  ['/inbox.css', 'inbox.css', 'text/css'],
] as const;
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; frame-ancestors 'none'";
/** A mail runs no script, loads nothing from elsewhere, and its links open beside the page. */
const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'";

const toDetail = (mail: CaughtMail, { html, text, headers, attachments }: Email) => ({
  ...mail,
  html: html ?? null,
  text: text ?? null,
  headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  attachments: attachments.map(({ filename, mimeType, content }) => ({
    filename,
    contentType: mimeType,
    sizeBytes: typeof content === 'string' ? content.length : content.byteLength,
  })),
});

/** Creates the server of the inbox page and its API; it does not listen yet. */
export async function createInboxWeb(mailbox: Mailbox): Promise<FastifyInstance> {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    // Another site whose name resolves to this machine must not read the mail.
    if (/^(localhost|127\.0\.0\.1|\[::1\])$/.test(request.hostname)) done();
    else sendFault(reply, 403, 'The inbox answers to localhost only');
  });
  app.setNotFoundHandler((_request, reply) => sendFault(reply, 404, 'Not found'));
  await registerPage(app);
  registerApi(app, mailbox);
  return app;
}

const sendFault = (reply: FastifyReply, status: number, message: string): FastifyReply =>
  reply.code(status).send({ error: { code: status === 404 ? 'NOT_FOUND' : 'FORBIDDEN', message } });

async function registerPage(app: FastifyInstance): Promise<void> {
  for (const [path, file, type] of PAGE_FILES) {
    const content = await readFile(new URL(`../../inbox/${file}`, import.meta.url));
    app.get(path, (_request, reply) =>
      reply.header('content-security-policy', PAGE_POLICY).type(`${type}; charset=utf-8`).send(content),
    );
  }
}

function registerApi(app: FastifyInstance, mailbox: Mailbox): void {
  app.get('/api/mails', () => ({ mails: mailbox.list() }));
  app.delete('/api/mails', async (_request, reply) => {
    await mailbox.clear();
    return reply.code(204).send();
  });
  type Answer = (raw: Buffer, reply: FastifyReply, mail: CaughtMail, index: number) => unknown;
  const onMail = (path: string, answer: Answer) =>
    app.get<{ Params: { id: string; index?: string } }>(`/api/mails/:id${path}`, async (request, reply) => {
      const mail = mailbox.find(request.params.id);
      if (!mail) return sendFault(reply, 404, 'Not found');
      return answer(await mailbox.readRaw(mail), reply, mail, Number(request.params.index));
    });
  onMail('', async (raw, _reply, mail) => toDetail(mail, await PostalMime.parse(raw)));
  onMail('/raw', (raw, reply) => reply.type('text/plain; charset=utf-8').send(raw));
  onMail('/html', async (raw, reply) => {
    const { html = '' } = await PostalMime.parse(raw);
    reply.header('content-security-policy', MAIL_POLICY).type('text/html; charset=utf-8');
    return reply.send(openLinksBeside(html));
  });
  onMail('/attachments/:index', async (raw, reply, _mail, index) => {
    const attachment = (await PostalMime.parse(raw)).attachments[index];
    if (!attachment) return sendFault(reply, 404, 'Not found');
    const name = encodeURIComponent(attachment.filename ?? 'attachment');
    reply.header('content-disposition', `attachment; filename*=UTF-8''${name}`);
    return reply.type('application/octet-stream').send(Buffer.from(attachment.content as ArrayBuffer));
  });
}

/** Adds the target of links where the mail's doctype stays first: anything before it would mean quirks mode. */
function openLinksBeside(html: string): string {
  const base = '<base target="_blank">';
  const head = /^\s*<!doctype html[^>]*>[^]*?<head(?:\s[^>]*)?>/i.exec(html)?.[0];
  return head === undefined ? `<!doctype html>${base}${html}` : head + base + html.slice(head.length);
}
