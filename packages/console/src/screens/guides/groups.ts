import type { guides as t } from '#text/guides';
import type { GuideTitle } from './guide.ts';

type Group = keyof typeof t.groups;

/** A guide belongs to the first group whose pattern its name matches. */
const patterns: readonly (readonly [Group, RegExp])[] = [
  ['crawls', /^(crawl|documents|your-first-connector)/],
  ['mails', /^(smtp|bounces)/],
  ['programs', /^(access|events|web-app|secret-scanning|public-address)$/],
  ['agents', /^/],
];

/** Groups guides by what they are about, agents first. */
export function groupGuides(guides: readonly GuideTitle[]) {
  const groupOf = ({ id }: GuideTitle) => patterns.find(([, pattern]) => pattern.test(id))?.[0];
  return (['agents', 'crawls', 'mails', 'programs'] as const).map((group) => ({
    group,
    guides: guides.filter((guide) => groupOf(guide) === group),
  }));
}
