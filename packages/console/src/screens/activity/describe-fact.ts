import { activity as t } from '#text/activity';
import type { IdentitySchemas } from '@platform/clients/types';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { describeAction } from '../audit/describe-entry.ts';
import { findSubjectPlace } from '../../ui/subject-place.ts';
import { nameOf } from '../audit/names.ts';
import type { Fact, NamedFact } from './api.ts';

type AuditEntry = IdentitySchemas['schemas']['AuditEntry'];
type NameInstance = (key: string) => string;
type Data = Readonly<Record<string, unknown>>;

const isEntry = (data: object): data is AuditEntry => 'action' in data;

/** Returns the entry of the audit that a fact is; undefined for the end of a run or of a mail. */
export const readEntry = ({ data }: Fact): AuditEntry | undefined => (isEntry(data) ? data : undefined);

function nameConnector({ connector, instance }: Data, nameInstance: NameInstance): string | undefined {
  if (typeof connector !== 'string') return undefined;
  return nameInstance(
    toConnectorKey({ connector, instance: typeof instance === 'string' ? instance : 'default' }),
  );
}

const describeWhat = (
  { subjectId, detail }: AuditEntry,
  names: NamedFact['names'],
  nameInstance: NameInstance,
) =>
  nameConnector(detail, nameInstance) ??
  (typeof detail['url'] === 'string' && subjectId === null ? detail['url'] : undefined) ??
  (subjectId === null ? '' : nameOf(subjectId, names));

function describeEntry(entry: AuditEntry, names: NamedFact['names'], nameInstance: NameInstance): string {
  const { action, actorId, reason, subjectId, detail } = entry;
  const nobody = reason === 'command' ? t.operator : t.platform;
  const who = actorId === null ? nobody : nameOf(actorId, names);
  const what =
    action.startsWith('crawl_') || subjectId === null || names[subjectId]
      ? describeWhat(entry, names, nameInstance)
      : nameOf(subjectId, names);
  const write = Object.hasOwn(t.sentences, action)
    ? t.sentences[action as keyof typeof t.sentences]
    : undefined;
  return write
    ? write(who, what, detail as Readonly<Record<string, string>>)
    : t.unknown(who, describeAction(action), what);
}

const readNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function describeRun(type: string, data: Data, what: string): string | undefined {
  const { items } = (data['counters'] ?? {}) as Data;
  switch (type) {
    case 'crawl.run.completed':
      return t.crawls.completed(what, data['worker'] === 'event' ? undefined : readNumber(items));
    case 'crawl.run.failed':
      return t.crawls.failed(what);
    case 'crawl.run.aborted':
      return t.crawls.aborted(what);
    case 'crawl.run.skipped':
      return t.crawls.skipped(what);
    case 'crawl.failing':
      return t.crawls.failing(what, readNumber(data['failures']) ?? 0);
    case 'crawl.recovered':
      return t.crawls.recovered(what);
    default:
      return undefined;
  }
}

function describeMail(type: string, data: Data): string | undefined {
  if (type === 'mail.suppressed') return t.mails.suppressed;
  const state = type.replace(/^mail\./, '');
  const recipients = readNumber(data['recipients']) ?? 1;
  return state === 'sent' || state === 'failed' || state === 'unknown'
    ? t.mails[state](recipients)
    : undefined;
}

/** Says in a sentence what happened. */
export function describeFact({ fact, names }: NamedFact, nameInstance: NameInstance): string {
  const entry = readEntry(fact);
  if (entry) return describeEntry(entry, names, nameInstance);
  const data: Data = fact.data;
  const what = nameConnector(data, nameInstance) ?? '';
  return (
    describeRun(fact.type, data, what) ?? describeMail(fact.type, data) ?? t.unknown('', fact.type, what)
  );
}

/** Returns the page of what a fact is about, where there is one. */
export function findPlace({ fact: { data }, names }: NamedFact): string | undefined {
  const { mailId, runId, connector, instance, subjectId, detail } = data as Data;
  if (typeof mailId === 'string') return `/mails/${mailId}`;
  const of = (typeof connector === 'string' ? { connector, instance } : detail) as Data | undefined;
  if (typeof of?.['connector'] === 'string') {
    const key = toConnectorKey({
      connector: of['connector'],
      instance: typeof of['instance'] === 'string' ? of['instance'] : 'default',
    });
    return `/crawls/connectors/${key}${typeof runId === 'string' ? `/runs/${runId}` : ''}`;
  }
  if (typeof subjectId !== 'string') return undefined;
  return findSubjectPlace({ id: subjectId, kind: names[subjectId]?.kind ?? '' });
}
