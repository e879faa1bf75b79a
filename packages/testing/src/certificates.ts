import { isIP } from 'node:net';

const SUBJECT_NAME_DNS = 2;
const SUBJECT_NAME_IP = 7;

/**
 * Creates a certificate for the hosts and an authority that signs it, all as PEM.
 *
 * @param validity - for a certificate that has expired, or is not valid yet.
 */
export async function issueCertificate(
  commonName: string,
  hosts: readonly string[],
  validity: { readonly notBeforeDate?: Date; readonly notAfterDate?: Date } = {},
) {
  // Loaded lazily, because only few tests need it.
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
    ...validity,
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
