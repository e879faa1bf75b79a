import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OwnKafka, startOwnKafka } from './lazy/test-servers.js';
import { issueCertificate } from './certificates.js';
import { makeTemporaryDir } from './temporary-dir.js';

/** A broker that requires TLS and an account. */
export interface SecuredKafka {
  readonly kafka: OwnKafka;
  /** The account for SCRAM-SHA-512 and PLAIN. */
  readonly account: { readonly username: string; readonly password: string };
  /** The certificate of the authority that has signed the broker's, as PEM. */
  readonly authority: string;
  /** The path of a file with the same certificate. */
  readonly authorityFile: string;
  close(): Promise<void>;
}

const account = { username: 'crawl', password: 'kept-in-a-file' };

const login = (module: string) =>
  `org.apache.kafka.common.security.${module} required username="${account.username}" password="${account.password}"`;

/**
 * Starts a broker that accepts only TLS, with a certificate from its own authority, and requires SCRAM-SHA-512 or
 * PLAIN.
 */
export async function startSecuredKafka(): Promise<SecuredKafka> {
  const { authority, certificate } = await issueCertificate('broker', ['127.0.0.1']);
  const folder = await makeTemporaryDir('platform-kafka-tls-');
  const keystore = join(folder, 'broker.pem');
  await writeFile(keystore, `${certificate.private}\n${certificate.cert}`, { mode: 0o600 });
  const authorityFile = join(folder, 'authority.pem');
  await writeFile(authorityFile, authority.cert);
  const kafka = await startOwnKafka({
    accounts: { [account.username]: account.password },
    settings: {
      // The listener's name is arbitrary; this setting defines its protocol.
      'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
      'sasl.enabled.mechanisms': 'SCRAM-SHA-512,PLAIN',
      'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
      'listener.name.plaintext.scram-sha-512.sasl.jaas.config': `${login('scram.ScramLoginModule')};`,
      'listener.name.plaintext.plain.sasl.jaas.config': `${login('plain.PlainLoginModule')} user_${account.username}="${account.password}";`,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': authorityFile,
    },
  });
  return {
    kafka,
    account,
    authority: authority.cert,
    authorityFile,
    async close() {
      await kafka.close();
      await rm(folder, { recursive: true });
    },
  };
}
