import { destinations as t } from '#text/destinations';
import { facts } from '#text/facts';
import type { IdentityPaths, IdentitySchemas } from '@platform/clients/types';
import type { Tone } from '../../ui/badge.tsx';

export type Destination = IdentitySchemas['schemas']['Destination'];
export type Delivery = IdentitySchemas['schemas']['FactDelivery'];
type CreateBody = NonNullable<IdentityPaths[typeof DESTINATIONS]['post']['requestBody']>;
export type FactType = NonNullable<CreateBody['content']['application/json']['types']>[number];

export const DESTINATIONS = '/api/v1/events/destinations' as const;
export const DESTINATION = `${DESTINATIONS}/{id}` as const;

export const getName = ({ description, url }: Destination): string => description || url;

export const isFactType = (type: string): type is FactType => Object.hasOwn(labels, type);
/** Every type has words. */
const labels: Readonly<Record<FactType, string>> = facts.types;
export const factTypeOptions = Object.entries(labels) as [FactType, string][];

export function describeState({ isEnabled, disabledReason, failingSince }: Destination): {
  readonly tone: Tone;
  readonly label: string;
} {
  if (!isEnabled)
    return disabledReason === null
      ? { tone: 'neutral', label: t.states.disabled }
      : { tone: 'bad', label: disabledReason === 'gone' ? t.states.gone : t.states.stopped };
  return failingSince === null
    ? { tone: 'good', label: t.states.enabled }
    : { tone: 'bad', label: t.states.failing };
}
