/** The context that binds a sealed secret to its destination. */
export const destinationSecretContext = (destinationId: string): string =>
  `destination-secret:${destinationId}`;
