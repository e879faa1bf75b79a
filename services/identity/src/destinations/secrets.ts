import { DAY_MS } from '@platform/service-kit';

/** The context that binds a sealed secret to its destination. */
export const destinationSecretContext = (destinationId: string): string =>
  `destination-secret:${destinationId}`;

/** How long the secret that was replaced signs, too. */
export const REPLACED_SECRET_MS = DAY_MS;
