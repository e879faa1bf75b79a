import type { AccessEntry } from '../documents/contract.js';
import { type CrawlRun, PermanentError } from '../run.js';
import { type Fields, MappingError, readPath, toDocumentId } from './mapping.js';
import { parseMessage, type StreamInfo, toStreamName } from './messages.js';
import type { RecordMapping } from './reading.js';
import type { SlicePlan } from './slice-plan.js';
import { openSource, type SourceDefinition, toSourceError } from './source.js';
import { TOO_LONG } from './source-process.js';
import { PERMISSIONS } from './stream-states.js';

/*
 * Who may find the files of a source that gives it: file-based sources have a mode (`delivery_method:
 * use_permissions_transfer`) in which each stream has a record of permissions for each file, and a stream `identities` says
 * who is behind the ids in them.
 */

const IDENTITIES = 'identities';
/** They are in memory while permissions are read. */
const MAX_IDENTITIES = 200_000;
/** What the contract of documents allows. */
const MAX_ENTRIES = 1_000;

/** A person or a group, as the source knows them. */
interface Identity {
  readonly isGroup: boolean;
  readonly email: string | undefined;
  /** The addresses of the members of a group. */
  readonly members: readonly string[];
}
type Identities = ReadonlyMap<string, Identity>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);

/**
 * Reads who is behind the ids in the permissions of a source.
 *
 * @returns undefined when the slice ends meanwhile. @throws PermanentError, Error.
 */
export async function readIdentities(
  definition: SourceDefinition,
  streams: readonly StreamInfo[],
  {
    run,
    mask,
  }: { readonly run: Pick<CrawlRun, 'isCancelled' | 'isTimeUp'>; readonly mask: (text: string) => string },
): Promise<Identities | undefined> {
  const stream = streams.find(({ name }) => name === IDENTITIES);
  if (!stream) return new Map();
  const catalog = { streams: [{ stream, sync_mode: 'full_refresh', destination_sync_mode: 'append' }] };
  const source = await openSource(definition, 'read', { catalog });
  const identities = new Map<string, Identity>();
  const isOver = (): boolean => run.isCancelled() || run.isTimeUp();
  const areTooMany = (): boolean => identities.size > MAX_IDENTITIES;
  let error: Error | undefined;
  for await (const line of source.lines()) {
    const message = line === TOO_LONG ? undefined : parseMessage(line);
    if (message?.type === 'RECORD' && message.record.stream === IDENTITIES)
      addIdentity(identities, message.record.data);
    if (message?.type === 'TRACE' && message.trace.error)
      error ??= toSourceError(mask(message.trace.error.message), message.trace.error);
    if (isOver() || areTooMany()) break;
  }
  if (isOver() || areTooMany()) await source.stop();
  const { code } = await source.exited;
  if (isOver()) return undefined;
  if (areTooMany()) throw new PermanentError(`The source has more than ${MAX_IDENTITIES} people and groups`);
  if (error) throw error;
  if (code !== 0) throw new Error(`The source ended with exit code ${code} while its identities were read`);
  return identities;
}

function addIdentity(identities: Map<string, Identity>, data: Fields): void {
  const { remote_id: id, type, email_address: email, member_email_addresses: members } = data;
  if (!isText(id)) return;
  identities.set(id, {
    isGroup: type === 'group',
    email: isText(email) ? email : undefined,
    members: type === 'group' ? toTexts(members) : [],
  });
}

/**
 * Returns the access list of a file. A group is named by its address and by its members, so that it holds with and without a
 * group of that name in the platform. Who is denied is left out, and then groups are their members alone. Nobody is added
 * whom the source does not name.
 */
function toAccess(data: Fields, identities: Identities): AccessEntry[] {
  if (data['publicly_accessible'] === true) return [{ kind: 'everyone' }];
  const resolve = (id: string): Identity =>
    identities.get(id) ?? { isGroup: false, email: id.includes('@') ? id : undefined, members: [] };
  const toPeople = ({ isGroup, email, members }: Identity): string[] =>
    isGroup ? [...members] : [email].filter(isText);
  const normalise = (address: string): string => address.toLowerCase();
  const denied = new Set(
    toTexts(data['denied_identity_remote_ids']).map(resolve).flatMap(toPeople).map(normalise),
  );
  const allowed = toTexts(data['allowed_identity_remote_ids']).map(resolve);
  const groups =
    denied.size > 0 ? [] : allowed.flatMap(({ isGroup, email }) => (isGroup && email ? email : []));
  const people = new Set(allowed.flatMap(toPeople).map(normalise));
  return [
    ...[...new Set(groups)].map((id) => ({ kind: 'group' as const, id })),
    ...[...people].filter((id) => !denied.has(id)).map((id) => ({ kind: 'user' as const, id })),
  ].slice(0, MAX_ENTRIES);
}

/** Creates what becomes of the records of permissions: lines about the access to documents. */
export function createPermissionMappings(
  { streams }: SourceDefinition,
  identities: Identities,
): ReadonlyMap<string, RecordMapping> {
  const mapped = Object.entries(streams).flatMap(
    ([name, { permissionsId: field }]): [string, RecordMapping][] =>
      field === undefined
        ? []
        : [
            [
              name,
              {
                map(data) {
                  const key = readPath(data, field);
                  if (!isText(key))
                    throw new MappingError(`the field ${field} of the id is missing`, undefined);
                  return {
                    id: toDocumentId(name, [key]),
                    access: toAccess(data, identities),
                    accessOnly: true,
                  };
                },
              },
            ],
          ],
  );
  return new Map(mapped);
}

/** Plans the reading of the permissions that the run has yet to read. @throws PermanentError when the source has none. */
export function planPermissions(
  plan: SlicePlan,
  mappings: ReadonlyMap<string, RecordMapping>,
  discovered: readonly StreamInfo[],
): SlicePlan {
  const found = discovered.filter(({ name }) => mappings.has(name));
  if (found.length === 0)
    throw new PermanentError(`The source gives no permissions of ${[...mappings.keys()].join(', ')}`);
  const streams = found.filter((stream) => !plan.complete.has(PERMISSIONS + toStreamName(stream)));
  return { ...plan, prefix: PERMISSIONS, streams };
}
