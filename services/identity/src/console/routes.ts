import fastifyStatic from '@fastify/static';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type App, VERSION } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The only styles that react-aria injects: of its drag cursor and of its hidden focus guards. */
const INJECTED_STYLES = [
  'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=',
  'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg=',
];

/** The content policy of the console: its own files, requests to its own origin, nothing inline, no frame around it (UI-2). */
const CONTENT_POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' ${INJECTED_STYLES.map((style) => `'${style}'`).join(' ')}`,
  `img-src 'self'`,
  `font-src 'self'`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  // The preview of a mail.
  `frame-src 'self'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  // The console's own policy, which lets nothing but an empty text through.
  `trusted-types default`,
].join('; ');

/**
 * The policy of the frame in which the console shows a mail: it has the styles that mails have, and a logo that is in the mail itself. It runs no script,
 * asks for nothing, and only the console may frame it.
 */
const FRAME_POLICY = [
  `default-src 'none'`,
  `style-src 'unsafe-inline'`,
  `img-src data:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'self'`,
].join('; ');

/** The paths of the console's screens, each with everything below; gateways route these, and no others, to it (UI-1). */
export const SCREEN_PATHS = [
  '/account',
  '/activity',
  '/connect',
  '/crawls',
  '/guides',
  '/knowledge',
  '/mails',
  '/organisation',
  '/tools',
] as const;
/** The path of its files, whose names change with their content. */
const ASSET_PATH = '/assets';

/** Open to everyone: the files are the same for everybody and hold no data. They aren't part of the documented API. */
export async function consoleRoutes(app: App, folder: string, commit: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: `${ASSET_PATH}/`,
    wildcard: false,
    index: false,
    decorateReply: false,
    preCompressed: true,
    globIgnore: ['**/*.br', '**/*.gz'],
    immutable: true,
    maxAge: '1y',
  });
  await registerScreens(app, folder, commit === 'unknown' ? VERSION : `${VERSION} (${commit.slice(0, 7)})`);
}

/** An empty page into which the console writes a mail to show: mails have styles that the console's own policy forbids. */
const MAIL_FRAME_PATH = '/mails/frame';
const MAIL_FRAME = '<!doctype html><html lang="en"><title>Mail</title></html>';

/** Answers every screen's path with the one page; its script shows the screen. */
async function registerScreens(app: App, folder: string, version: string): Promise<void> {
  const file = await readFile(join(folder, 'index.html'), 'utf8');
  const page = file.replace(
    '<meta name="version" content="development"',
    `<meta name="version" content="${version}"`,
  );
  // A strong one: the size and the time of the file can be the same after an update.
  const etag = `"${hash('sha256', page, 'base64url')}"`;
  const sendPage = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.headers({
      etag,
      'cache-control': 'no-cache',
      'content-security-policy': CONTENT_POLICY,
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    if (request.headers['if-none-match'] === etag) void reply.code(304).send();
    else void reply.type('text/html; charset=utf-8').send(page);
  };
  app.get(MAIL_FRAME_PATH, { schema: { hide: true } }, (_request, reply) => {
    void reply
      .headers({ 'cache-control': 'no-cache', 'content-security-policy': FRAME_POLICY })
      .type('text/html; charset=utf-8')
      .send(MAIL_FRAME);
  });
  const paths = ['/', ...SCREEN_PATHS.flatMap((path) => [path, `${path}/*`])];
  for (const path of paths) app.get(path, { schema: { hide: true } }, sendPage);
}
