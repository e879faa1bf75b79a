import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnKafka, startOwnKafka } from '@platform/testing';
import { generate } from 'selfsigned';

export interface SecuredKafka {
  readonly kafka: OwnKafka;
  /** The certificate of the authority that has signed the broker's, as PEM. */
  readonly authority: string;
  close(): Promise<void>;
}

export const account = { name: 'crawl', password: 'kept-in-a-file' } as const;

const login = `org.apache.kafka.common.security.scram.ScramLoginModule required username="${account.name}" password="${account.password}";`;

/** A broker that speaks TLS alone, with a certificate of an authority of its own, and asks for SCRAM-SHA-512. */
export async function startSecuredKafka(): Promise<SecuredKafka> {
  const authority = await generate([{ name: 'commonName', value: 'authority' }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const broker = await generate([{ name: 'commonName', value: 'broker' }], {
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'platform-kafka-tls-'));
  const keystore = join(folder, 'broker.pem');
  await writeFile(keystore, `${broker.private}\n${broker.cert}`, { mode: 0o600 });
  const truststore = join(folder, 'authority.pem');
  await writeFile(truststore, authority.cert);
  const kafka = await startOwnKafka({
    accounts: { [account.name]: account.password },
    settings: {
      // The name of the listener is a name; this says what it speaks.
      'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
      'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
      'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
      'listener.name.plaintext.scram-sha-512.sasl.jaas.config': login,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': truststore,
    },
  });
  return {
    kafka,
    authority: authority.cert,
    async close() {
      await kafka.close();
      await rm(folder, { recursive: true });
    },
  };
}
