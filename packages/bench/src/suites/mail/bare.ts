import { createServer } from 'node:http';
import { createTransport } from 'nodemailer';

/*
 * What the service is held against, as a process of its own on the same core: nodemailer with a ready
 * text, `POST /pooled` over one pool, `POST /single` with a transport of its own for each mail.
 */
const [port, smtpPort] = process.argv.slice(2).map(Number);
const smtp = { host: '127.0.0.1', port: smtpPort ?? 0, ignoreTLS: true };
const pool = createTransport({
  ...smtp,
  pool: true,
  maxConnections: 5,
  maxMessages: Number.POSITIVE_INFINITY,
});
let mail = {};

async function answer(path: string, body: string): Promise<number> {
  if (path === '/mail') mail = JSON.parse(body) as object;
  else if (path === '/single') await createTransport(smtp).sendMail({ ...mail });
  return 200;
}

/** The loads run in here: an HTTP request per mail would be measured with them. */
async function run(path: string, seconds: number, concurrency: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const sendSome = async () => {
    while (performance.now() - startedAt < seconds * 1_000) {
      if (path === '/single') await answer(path, '');
      else await pool.sendMail({ ...mail });
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendSome));
  return count / ((performance.now() - startedAt) / 1_000);
}

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://peer');
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    if (url.pathname === '/ready' || url.pathname === '/mail') {
      void answer(url.pathname, body).then((status) => response.writeHead(status).end('{}'));
      return;
    }
    const seconds = Number(url.searchParams.get('seconds'));
    void run(url.pathname, seconds, Number(url.searchParams.get('concurrency'))).then((rate) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ rate }));
    });
  });
}).listen(port, '127.0.0.1');

process.once('SIGTERM', () => process.exit(0));
