import { writeFile } from 'node:fs/promises';
import { generate } from 'selfsigned';

/** Writes a self-signed certificate for 127.0.0.1 and its key (RSA 2048, as most submission servers have). */
export async function writeCertificate(file: string): Promise<void> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'sink' }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, keyCertSign: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  await writeFile(file, `${cert}\n${key}`, { mode: 0o600 });
}
