import { requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { getCaller } from '../base/caller/actor.js';
import { languages } from '../mails/outbox/email-request.js';
import type { Prisma } from '../prisma.js';
import { userNotFound } from './members/errors.js';

const Preferences = Type.Object(
  {
    language: Type.Union([Type.Enum([...languages]), Type.Null()], {
      description: "Of the mails to the member; null for the language of the organisation's mails.",
    }),
  },
  { additionalProperties: false, title: 'Preferences' },
);

const PATH = '/api/v1/users/me/preferences';
const tags = ['Users'];

/** Registers the own preferences of members. They require a session. */
export function registerPreferences(app: App, { prisma }: { readonly prisma: Prisma }): void {
  const onRequest = [app.authenticate, requireSession];
  const response = { 200: Preferences, ...errorResponses(401, 403, 404) };
  const toLanguage = (stored: string | null) => languages.find((language) => language === stored) ?? null;
  app.get(
    PATH,
    {
      onRequest,
      schema: {
        operationId: 'getPreferences',
        tags,
        summary: 'The own preferences',
        description:
          'They are what mails and the console consider for this member, such as the language of mails.',
        response,
      },
    },
    async (request) => {
      const where = { id: getCaller(request).userId, removedAt: null };
      const user = await prisma.user.findFirst({ where, select: { language: true } });
      if (!user) throw userNotFound();
      return { language: toLanguage(user.language) };
    },
  );
  app.put(
    PATH,
    {
      onRequest,
      schema: {
        operationId: 'savePreferences',
        tags,
        summary: 'Change the own preferences',
        description: 'Replaces the preferences as a whole.',
        body: Preferences,
        response: { ...response, ...errorResponses(400) },
      },
    },
    async (request) => {
      const { language } = request.body;
      const where = { id: getCaller(request).userId, removedAt: null };
      if ((await prisma.user.updateMany({ where, data: { language } })).count === 0) throw userNotFound();
      return { language };
    },
  );
}
