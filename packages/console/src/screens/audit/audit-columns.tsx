import { audit as t } from '#text/audit';
import type { DataColumn } from '../../ui/data-table.tsx';
import { shownZone } from '../../look.ts';
import { Time } from '../../ui/time.tsx';
import type { AuditEntry, AuditName } from './api.ts';
import { describeAction, describeChanges } from './describe-entry.ts';
import { nameOf } from './names.ts';

export interface NamedEntry {
  readonly entry: AuditEntry;
  readonly names: Readonly<Record<string, AuditName>>;
}

interface NameProps {
  readonly id: string;
  readonly names: NamedEntry['names'];
  onPress(id: string): void;
}

/** A name that filters by what it names; the last part of the id where that was deleted. */
const Name = ({ id, names, onPress }: NameProps) => {
  const found = names[id];
  const name = nameOf(id, names);
  return (
    // A list has hundreds of these: a button of the library would take a noticeable time for all of them.
    <button type="button" className="button link" onClick={() => onPress(id)}>
      {name}
      {found && found.kind !== 'member' && (
        <small> {t.kinds[found.kind as keyof typeof t.kinds] ?? found.kind}</small>
      )}
    </button>
  );
};

/** Whom it was done to and who did it, and when, below the act on a phone. */
export const foldEntry = ({ entry: { actorId, subjectId, createdAt }, names }: NamedEntry) => (
  <>
    {subjectId !== null && <span>{nameOf(subjectId, names)}</span>}
    <span>{t.by(actorId === null ? t.platform : nameOf(actorId, names))}</span>
    <Time at={createdAt} />
  </>
);

export const createAuditColumns = (
  setFilter: (name: string, value: string) => void,
): readonly DataColumn<NamedEntry>[] => [
  {
    id: 'action',
    label: t.columns.action,
    render: ({ entry }) => <span className="strong">{describeAction(entry.action)}</span>,
  },
  {
    id: 'target',
    isFreeText: true,
    isSecondary: true,
    label: t.target,
    render: ({ entry, names }) =>
      entry.subjectId !== null && (
        <Name id={entry.subjectId} names={names} onPress={(id) => setFilter('subject', id)} />
      ),
  },
  {
    id: 'what',
    isFreeText: true,
    label: t.columns.what,
    isWide: true,
    render: ({ entry }) => describeChanges(entry),
  },
  {
    id: 'actor',
    isFreeText: true,
    label: t.columns.actor,
    isSecondary: true,
    render: ({ entry: { actorId }, names }) =>
      actorId === null ? (
        t.platform
      ) : (
        <Name id={actorId} names={names} onPress={(id) => setFilter('actor', id)} />
      ),
  },
  {
    id: 'when',
    label: t.columns.whenIn(shownZone),
    isSecondary: true,
    render: ({ entry }) => <Time at={entry.createdAt} as="full" />,
  },
];

export function describeCredential(
  { kind, id }: NonNullable<AuditEntry['credential']>,
  names: NamedEntry['names'],
): string {
  const found = names[id];
  if (kind === 'pat' && found) return t.withToken(found.name);
  return t.credentials[kind as keyof typeof t.credentials] ?? kind;
}
