import { tools as t } from '#text/tools';
import { Badge } from '../../ui/badge.tsx';
import { listEffects } from './api.ts';

/** What a tool does, as its server says. */
export const Effects = ({ annotations }: { annotations: Readonly<Record<string, unknown>> }) => (
  <span className="badges" title={t.effectsHint}>
    {listEffects(annotations).map(({ label, tone }) => (
      <Badge key={label} tone={tone}>
        {label}
      </Badge>
    ))}
  </span>
);
