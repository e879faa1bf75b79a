import { integer, list, oneOf, text, type Values, withDefault } from '@platform/service-kit';
import type { EventRelayOptions } from './relay/options.js';

type KafkaOptions = EventRelayOptions['kafka'];

/** The connection of a service that publishes events, in plain text unless these variables say otherwise. */
export const kafkaVariables = {
  KAFKA_BROKERS: withDefault(list('a comma-separated list of <host>:<port>'), []),
  /** Certificates are verified. Node.js reads a private authority from NODE_EXTRA_CA_CERTS. */
  KAFKA_TLS: withDefault(oneOf('true', 'false'), 'false' as const),
  KAFKA_SASL_MECHANISM: withDefault(oneOf('plain', 'scram-sha-256', 'scram-sha-512'), undefined),
  KAFKA_SASL_USERNAME: withDefault(text(), undefined),
  KAFKA_SASL_PASSWORD: withDefault(text(), undefined),
  /** The partitions of a topic that the service creates. */
  KAFKA_PARTITIONS: withDefault(integer(1, 10_000), 12),
} as const;

type KafkaConfig = Values<typeof kafkaVariables>;

const SASL = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;

/** Returns the contradictions between the variables that are valid by themselves. */
export function findKafkaContradictions(values: Partial<KafkaConfig>): string[] {
  const areAllRight = SASL.every((name) => name in values);
  const given = SASL.filter((name) => values[name] !== undefined);
  const faults: string[] = [];
  if (areAllRight && given.length > 0 && given.length < SASL.length)
    faults.push(`${SASL.join(', ')} go together: set all, or none`);
  if (values.KAFKA_SASL_MECHANISM === 'plain' && values.KAFKA_TLS === 'false')
    faults.push('KAFKA_SASL_MECHANISM plain sends the password as it is: set KAFKA_TLS to true');
  const isSecured = given.length > 0 || values.KAFKA_TLS === 'true';
  if (isSecured && values.KAFKA_BROKERS?.length === 0)
    faults.push('KAFKA_TLS and KAFKA_SASL_… say nothing without KAFKA_BROKERS');
  return faults;
}

/** @returns the options of the Kafka client. */
export function toKafkaOptions(clientId: string, config: KafkaConfig): KafkaOptions {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username } = config;
  const { KAFKA_SASL_PASSWORD: password } = config;
  return {
    brokers: [...config.KAFKA_BROKERS],
    clientId,
    ssl: config.KAFKA_TLS === 'true',
    ...(mechanism !== undefined &&
      username !== undefined &&
      password !== undefined && {
        sasl: { mechanism, username, password } as NonNullable<KafkaOptions['sasl']>,
      }),
  };
}
