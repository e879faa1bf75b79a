import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, type SecuredKafka, startSecuredKafka, waitFor } from '@platform/testing';
import { send } from '../platform/load.js';
import { type Platform, startPlatform } from '../platform/platform.js';

describeWith('nginx', 'Kafka with TLS and an account', () => {
  describeWith('own-redis', 'with Redis', () => {
    describeWith('own-kafka', 'as the operations guide sets it up', () => {
      let folder: string;
      let secured: SecuredKafka;
      let platform: Platform;

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'platform-secrets-'));
        secured = await startSecuredKafka();
        await writeFile(join(folder, 'kafka-password'), `${secured.account.password}\n`);
        platform = await startPlatform({
          replicas: 1,
          envByService: {
            crawl: {
              KAFKA_BROKERS: secured.kafka.brokers,
              KAFKA_PARTITIONS: '1',
              KAFKA_TLS: 'true',
              KAFKA_SASL_MECHANISM: 'scram-sha-512',
              KAFKA_SASL_USERNAME: secured.account.username,
              KAFKA_SASL_PASSWORD_FILE: join(folder, 'kafka-password'),
              NODE_EXTRA_CA_CERTS: secured.authorityFile,
            },
          },
        });
      });
      afterAll(async () => {
        await platform?.close();
        await secured?.close();
        await rm(folder, { recursive: true });
      });

      // prettier-ignore
      test('receives the event of a run', async () => {
        const path = '/api/v1/crawlingManager/wiki_1/schedule';
        const scheduledTime = new Date(Date.now() + 2_000).toISOString();
        const body = () => ({ scheduleConfig: { scheduleType: 'once', scheduledTime } });
        const { status } = await send(platform.url, { path, token: platform.session, body, status: 201 });
        expect(status).toBe(201);
        const published = 'select 1 from outbox.events where published_at is not null';
        await waitFor(async () => (await platform.query('crawl', published)).length === 1, { what: 'the event' });
      });
    });
  });
});
