const isRefusal = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'KafkaJSSASLAuthenticationError';

/** No broker answers or accepts the account, or the topic is missing; `cause` says which. */
export class KafkaAwayError extends Error {
  override readonly name: string = 'KafkaAwayError';
  constructor(
    cause: unknown,
    message = isRefusal(cause) ? 'Kafka refuses the account' : 'Kafka is not available',
  ) {
    super(message, { cause });
  }
}

/** Keys belong to other partitions than before, so that publishing must restart with the oldest waiting event. */
export class PartitionsChangedError extends KafkaAwayError {
  override readonly name = 'PartitionsChangedError';
  constructor(before: number, now: number) {
    super(undefined, `the topic has ${now} partitions instead of ${before}`);
  }
}
