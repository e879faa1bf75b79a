import { isIP } from 'node:net';

const SUBJECT_NAME_DNS = 2;
const SUBJECT_NAME_IP = 7;

/** A certificate for the hosts, signed by an authority that was made for it. PEM, all of it. */
export async function issueCertificate(commonName: string, hosts: readonly string[]) {
  // Loaded by those tests alone that need it.
  const { generate } = await import('selfsigned');
  const authority = await generate([{ name: 'commonName', value: 'authority' }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const certificate = await generate([{ name: 'commonName', value: commonName }], {
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) =>
          isIP(host) === 0 ? { type: SUBJECT_NAME_DNS, value: host } : { type: SUBJECT_NAME_IP, ip: host },
        ),
      },
    ],
  });
  return { authority, certificate };
}
