import { groups } from '#text/groups';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { RadioCards } from '../../ui/fields.tsx';
import { type Choice, SearchPicker } from '../../ui/search-picker.tsx';
import type { GroupReference } from './api.ts';

const t = groups.access;
const SHOWN = 10;

type Access = 'everybody' | 'limited';
const options = (['everybody', 'limited'] as const).map((key) => ({ key, ...t[key] }));

/** Who may use a server or a tool: everybody, or groups. */
export function AccessInput({ allowed }: { allowed: readonly GroupReference[] | null }) {
  const [access, setAccess] = useState<Access>(allowed === null ? 'everybody' : 'limited');
  const [count, setCount] = useState(allowed?.length ?? 0);
  return (
    <>
      <RadioCards<Access> label={t.label} value={access} options={options} onChange={setAccess} />
      <input type="hidden" name="access" value={access} />
      {access === 'limited' && (
        <SearchPicker
          name="allowedGroups"
          label={t.chosen}
          searchLabel={t.search}
          initial={(allowed ?? []).map(toChoice)}
          useChoices={useGroups}
          onChange={(ids) => setCount(ids.length)}
          hint={count === 0 && <p className="hint">{t.none}</p>}
        />
      )}
    </>
  );
}

const toChoice = ({ id, name, source }: GroupReference): Choice => ({
  id,
  name,
  ...(source === 'provider' && { detail: groups.sources.provider }),
});

function useGroups(q: string): readonly Choice[] | undefined {
  const { data } = useQuery({
    queryKey: ['groups', 'choices', q],
    queryFn: async ({ signal }) => {
      const params = { query: { limit: SHOWN, ...(q && { q }) } };
      return (await unwrap(identity.GET('/api/v1/groups', { params, signal }))).data.map(toChoice);
    },
    placeholderData: keepPreviousData,
  });
  return data;
}

/** Reads the field above. */
export const readAccess = (form: FormData): { readonly allowedGroups: string[] | null } => ({
  allowedGroups: form.get('access') === 'limited' ? form.getAll('allowedGroups').map(String) : null,
});
