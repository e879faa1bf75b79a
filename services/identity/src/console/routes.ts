import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONTENT_POLICY, FRAME_POLICY } from './content-policy.js';

/** The paths of the console's screens, each with everything below; gateways route these, and no others, to it (UI-1). */
export const SCREEN_PATHS = ['/account', '/crawls', '/mails', '/organisation'] as const;
/** The path of its files, whose names change with their content. */
const ASSET_PATH = '/assets';

/** Open to everyone: the files are the same for everybody and hold no data. They aren't part of the documented API. */
export async function consoleRoutes(app: App, folder: string): Promise<void> {
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
  await registerScreens(app, folder);
}

/** An empty page into which the console writes a mail to show: mails have styles that the console's own policy forbids. */
const MAIL_FRAME_PATH = '/mails/frame';
const MAIL_FRAME = '<!doctype html><html lang="en"><title>Mail</title></html>';

/** Answers every screen's path with the one page; its script shows the screen. */
async function registerScreens(app: App, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'));
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
