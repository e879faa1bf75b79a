import { account } from '#text/account';
import { useState } from 'react';
import { browserZone, look, saveLook, type Theme, themes, type Zone, zones } from '../../look.ts';
import type { SelectInputProps } from '../../ui/fields.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Section } from '../../ui/page.tsx';

const t = account.appearance;
const loadFields = () => import('../../ui/fields.tsx');
const ThemeInput = lazyPart<SelectInputProps<Theme>>(async () => (await loadFields()).SelectInput);
const ZoneInput = lazyPart<SelectInputProps<Zone>>(async () => (await loadFields()).SelectInput);

/** How the console looks in this browser. */
export function Appearance() {
  const [{ theme, zone }, setChosen] = useState(look);
  return (
    <Section title={t.title}>
      <div className="row">
        <ThemeInput
          label={t.theme}
          value={theme}
          options={themes.map((key) => [key, t.themes[key]] as const)}
          onChange={(next) => {
            setChosen({ theme: next, zone });
            saveLook({ theme: next });
          }}
        />
        <ZoneInput
          label={t.zone}
          value={zone}
          options={zones.map((key) => [key, t.zones[key](browserZone)] as const)}
          onChange={(next) => {
            setChosen({ theme, zone: next });
            saveLook({ zone: next });
          }}
        />
      </div>
      <p className="hint">{t.hint}</p>
    </Section>
  );
}
