import { setImmediate } from 'node:timers/promises';
import { type FactEvent, isAuditType } from '@platform/events';
import { VERSION } from '@platform/service-kit';

/*
 * Facts as OTLP/HTTP logs in JSON (opentelemetry-proto 1.x): the body of a record is the fact, and its attributes are those
 * of the OpenTelemetry conventions for CloudEvents. An entry of the audit has attributes of OCSF, too, which security tools
 * search by.
 */

/** Facts that somebody should look at. */
const warnings: ReadonlySet<string> = new Set([
  'token.leaked',
  'token.reused',
  'session.suspicious',
  'mcp.connection_failing',
  'mcp.server_down',
  'crawl.failing',
  'crawl.run.failed',
  'mail.failed',
]);
const INFO = { severityNumber: 9, severityText: 'INFO' } as const;
const WARN = { severityNumber: 13, severityText: 'WARN' } as const;

type Value = string | number | null | undefined;
const toAttributes = (values: Readonly<Record<string, Value>>) =>
  Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    }));

const OCSF_VERSION = '1.6.0';
/** OCSF's Identity & Access Management. */
const CATEGORY = 3;
const ACCOUNT_CHANGE = 3_001;
const AUTHENTICATION = 3_002;
const ENTITY_MANAGEMENT = 3_004;
const GROUP_MANAGEMENT = 3_006;
const OTHER = 99;

/** The class and activity of an action; the first that matches. The rest is what happens to an entity. */
const activities: readonly (readonly [RegExp, number, number])[] = [
  [/^session\.created$/, AUTHENTICATION, 1],
  [/^sessions?\.ended$/, AUTHENTICATION, 2],
  [/^(sign_in|session|identity_provider\.refused)/, AUTHENTICATION, OTHER],
  [/^(user\.(created|invited)|service_account\.created)$/, ACCOUNT_CHANGE, 1],
  [/^(user|service_account)\.removed$/, ACCOUNT_CHANGE, 6],
  [/^password\.changed$/, ACCOUNT_CHANGE, 3],
  [/^second_factor\.enrolled$/, ACCOUNT_CHANGE, 10],
  [/^second_factor\.(removed|reset)$/, ACCOUNT_CHANGE, 11],
  [/^(user|invitation|second_factor|service_account)\./, ACCOUNT_CHANGE, OTHER],
  [/^group\.member_added$/, GROUP_MANAGEMENT, 3],
  [/^group\.member_removed$/, GROUP_MANAGEMENT, 4],
  [/^group\.removed$/, GROUP_MANAGEMENT, 5],
  [/^group\.created$/, GROUP_MANAGEMENT, 6],
  [/^group\./, GROUP_MANAGEMENT, OTHER],
  [/\.(created|authorized|added|secret_created)$/, ENTITY_MANAGEMENT, 1],
  [/\.(changed|saved|\w+_saved|rotated)$/, ENTITY_MANAGEMENT, 3],
  [/\.(removed|\w+_removed|revoked|secret_revoked)$/, ENTITY_MANAGEMENT, 4],
  [/\.disabled$/, ENTITY_MANAGEMENT, 9],
];

interface AuditData {
  readonly action: string;
  readonly actorId: string | null;
  readonly credential: { readonly kind: string; readonly id: string } | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly subjectId: string | null;
  readonly reason: string | null;
}

function toOcsf({ id, time, data }: FactEvent): Readonly<Record<string, Value>> {
  const entry = data as unknown as AuditData;
  const [, classUid, activityId] = activities.find(([pattern]) => pattern.test(entry.action)) ?? [
    undefined,
    ENTITY_MANAGEMENT,
    OTHER,
  ];
  const isFailure = /\.(failed|refused)$/.test(entry.action);
  return {
    'ocsf.metadata.version': OCSF_VERSION,
    'ocsf.metadata.uid': id,
    'ocsf.metadata.correlation_uid': entry.requestId,
    'ocsf.metadata.product.name': 'workspace-platform',
    'ocsf.category_uid': CATEGORY,
    'ocsf.class_uid': classUid,
    'ocsf.activity_id': activityId,
    'ocsf.activity_name': entry.action,
    'ocsf.type_uid': classUid * 100 + activityId,
    'ocsf.severity_id': isFailure ? 2 : 1,
    'ocsf.status_id': isFailure ? 2 : 1,
    'ocsf.status_detail': entry.reason,
    'ocsf.time': Date.parse(time),
    'ocsf.actor.user.uid': entry.actorId,
    'ocsf.actor.session.uid': entry.credential?.kind === 'session' ? entry.credential.id : undefined,
    'ocsf.actor.user.credential_uid': entry.credential?.kind === 'session' ? undefined : entry.credential?.id,
    'ocsf.src_endpoint.ip': entry.address,
    'ocsf.http_request.user_agent': entry.userAgent,
    [classUid === ENTITY_MANAGEMENT ? 'ocsf.entity.uid' : 'ocsf.user.uid']: entry.subjectId,
  };
}

const toNanos = (milliseconds: number): string => `${milliseconds}000000`;

function toLogRecord(text: string, at: number) {
  const fact = JSON.parse(text) as FactEvent;
  return {
    timeUnixNano: toNanos(Date.parse(fact.time)),
    observedTimeUnixNano: toNanos(at),
    ...(warnings.has(fact.type) ? WARN : INFO),
    eventName: fact.type,
    body: { stringValue: text },
    attributes: toAttributes({
      'cloudevents.event_id': fact.id,
      'cloudevents.event_source': fact.source,
      'cloudevents.event_type': fact.type,
      'cloudevents.event_spec_version': fact.specversion,
      ...(isAuditType(fact.type) && toOcsf(fact)),
    }),
  };
}

/** The facts that are written in one go: a full batch takes milliseconds, for which no request may wait. */
const FACTS_IN_ONE_GO = 20;

/** Returns the body of an `ExportLogsServiceRequest`. @param facts - in JSON, oldest first. */
export async function toLogsBody(orgId: string, facts: readonly string[], at: number): Promise<string> {
  const attributes = toAttributes({ 'service.name': 'workspace-platform', 'organisation.id': orgId });
  const scope = { name: 'workspace-platform.facts', version: VERSION };
  const records: string[] = [];
  for (const fact of facts) {
    records.push(JSON.stringify(toLogRecord(fact, at)));
    if (records.length % FACTS_IN_ONE_GO === 0) await setImmediate();
  }
  const scopeLogs = `{"scope":${JSON.stringify(scope)},"logRecords":[${records.join()}]}`;
  return `{"resourceLogs":[{"resource":${JSON.stringify({ attributes })},"scopeLogs":[${scopeLogs}]}]}`;
}

/** Whether an `ExportLogsServiceResponse` says that records were dropped. */
export function hasRejectedRecords(text: string): boolean {
  try {
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedLogRecords?: string | number } } | null;
    return Number(answer?.partialSuccess?.rejectedLogRecords ?? 0) > 0;
  } catch {
    return false;
  }
}
