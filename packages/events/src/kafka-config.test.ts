import { loadConfig } from '@platform/service-kit';
import { findKafkaContradictions, kafkaVariables, toKafkaOptions } from './kafka-config.js';

const load = (kafka: NodeJS.ProcessEnv) => loadConfig(kafka, kafkaVariables, findKafkaContradictions);
const account = { KAFKA_SASL_USERNAME: 'crawl', KAFKA_SASL_PASSWORD: 'kept' };
const secured = {
  KAFKA_BROKERS: 'a:9093,b:9093',
  KAFKA_TLS: 'true',
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  ...account,
};

test('passes brokers, TLS and credentials to the Kafka client', () => {
  expect(toKafkaOptions('crawl', load({ KAFKA_BROKERS: 'a:9092' }))).toEqual({
    brokers: ['a:9092'],
    clientId: 'crawl',
    ssl: false,
  });
  expect(toKafkaOptions('crawl', load(secured))).toEqual({
    brokers: ['a:9093', 'b:9093'],
    clientId: 'crawl',
    ssl: true,
    sasl: { mechanism: 'scram-sha-512', username: 'crawl', password: 'kept' },
  });
});

test('rejects incomplete credentials, a plain-text password, and security without brokers', () => {
  expect(() => load({ ...secured, KAFKA_SASL_PASSWORD: '' })).toThrow(/go together: set all, or none/);
  expect(() => load({ ...secured, KAFKA_SASL_MECHANISM: '' })).toThrow(/go together: set all, or none/);
  expect(() => load({ ...secured, KAFKA_SASL_MECHANISM: 'plain', KAFKA_TLS: '' })).toThrow(
    /sends the password/,
  );
  expect(() => load({ ...secured, KAFKA_BROKERS: '' })).toThrow(/say nothing without KAFKA_BROKERS/);
  expect(() => load({ ...secured, KAFKA_SASL_MECHANISM: 'gssapi' })).toThrow(
    /^ {2}- KAFKA_SASL_MECHANISM must be/m,
  );
  expect(() => load({ ...secured, KAFKA_SASL_PASSWORD: '', KAFKA_TLS: 'yes' })).not.toThrow(/kept/);
});
