import { audit as t } from '#text/audit';
import { Button } from '../../ui/button.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { AuditEntry, AuditName } from './api.ts';
import { describeAction, listChanges } from './describe-entry.ts';

interface NamedEntry {
  readonly entry: AuditEntry;
  readonly names: Readonly<Record<string, AuditName>>;
}

interface NameProps {
  readonly id: string;
  readonly names: NamedEntry['names'];
  onPress(id: string): void;
}

/** A name that filters by what it names; the last part of the id where that has none any more. */
const Name = ({ id, names, onPress }: NameProps) => {
  const found = names[id];
  return (
    <span className="stack">
      <Button kind="link" onPress={() => onPress(id)}>
        {found?.name ?? `…${id.slice(-6)}`}
      </Button>
      {found && found.kind !== 'member' && (
        <small>{t.kinds[found.kind as keyof typeof t.kinds] ?? found.kind}</small>
      )}
    </span>
  );
};

export const createAuditColumns = (
  setFilter: (name: string, value: string) => void,
): readonly DataColumn<NamedEntry>[] => [
  {
    id: 'action',
    label: t.columns.action,
    render: ({ entry }) => (
      <span className="stack">
        <span className="strong">{describeAction(entry.action)}</span>
        <small>
          <Time at={entry.createdAt} as="full" />
        </small>
      </span>
    ),
  },
  {
    id: 'target',
    isFreeText: true,
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
    isSecondary: true,
    render: ({ entry }) => (
      <span className="stack">
        {listChanges(entry).map(([name, value]) => (
          <small key={name}>
            {name}: {value}
          </small>
        ))}
        {entry.reason !== null && <small>{t.because(entry.reason)}</small>}
      </span>
    ),
  },
  {
    id: 'actor',
    isFreeText: true,
    label: t.columns.actor,
    isSecondary: true,
    render: ({ entry: { actorId, credential, address }, names }) => (
      <span className="stack">
        {actorId === null ? (
          t.platform
        ) : (
          <Name id={actorId} names={names} onPress={(id) => setFilter('actor', id)} />
        )}
        <small>
          {[credential && describeCredential(credential, names), address].filter(Boolean).join(', ')}
        </small>
      </span>
    ),
  },
];

function describeCredential(
  { kind, id }: NonNullable<AuditEntry['credential']>,
  names: NamedEntry['names'],
): string {
  const found = names[id];
  if (kind === 'pat' && found) return t.withToken(found.name);
  return t.credentials[kind as keyof typeof t.credentials] ?? kind;
}
