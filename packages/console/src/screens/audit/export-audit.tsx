import { audit } from '#text/audit';
import { useState } from 'react';
import { announce } from '../../ui/announcements.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { reportProblem } from '../../ui/reported-problem.tsx';
import { type AuditName, type AuditSearch, type ExportedEntry, loadAuditPage } from './api.ts';
import { saveFile } from '../../ui/save-file.ts';
import { useAction } from '../../ui/use-action.ts';
import { toCsv } from './to-csv.ts';

const t = audit.export;
const PAGE_SIZE = 100;
/** More is for the API: a page of the browser holds all of it at once. */
const MAX_ENTRIES = 10_000;

type Format = 'csv' | 'json';

const findName = (names: Readonly<Record<string, AuditName>>, id: string | null): string | null =>
  (id !== null && names[id]?.name) || null;

/** Reads page after page, up to {@link MAX_ENTRIES}. */
async function loadAll(search: AuditSearch, onProgress: (count: number) => void) {
  const entries: ExportedEntry[] = [];
  let cursor: string | undefined;
  do {
    const { data, names, nextCursor } = await loadAuditPage({ ...search, cursor }, undefined, PAGE_SIZE);
    for (const entry of data)
      entries.push({
        ...entry,
        actorName: findName(names, entry.actorId),
        subjectName: findName(names, entry.subjectId),
      });
    cursor = nextCursor ?? undefined;
    onProgress(entries.length);
  } while (cursor !== undefined && entries.length < MAX_ENTRIES);
  return { entries, isCut: cursor !== undefined };
}

/** Saves the entries that the filters let through as a file. */
export function ExportAudit({ search }: { search: AuditSearch }) {
  const [count, setCount] = useState(0);
  const save = useAction({
    async mutationFn(format: Format) {
      setCount(0);
      const { entries, isCut } = await loadAll(search, setCount);
      const content = format === 'csv' ? toCsv(entries) : JSON.stringify(entries, undefined, 2);
      saveFile(`audit-${new Date().toISOString().slice(0, 10)}.${format}`, content);
      return { count: entries.length, isCut };
    },
    onSuccess: (saved) => announce(saved.isCut ? t.cut(saved.count) : t.done(saved.count)),
    onError: reportProblem,
  });
  return (
    <MenuButton
      className="button plain"
      placement="bottom end"
      isDisabled={save.isPending}
      actions={[
        { label: t.csv, run: () => save.mutate('csv') },
        { label: t.json, run: () => save.mutate('json') },
      ]}
    >
      {save.isPending ? t.loading(count) : t.label}
    </MenuButton>
  );
}
