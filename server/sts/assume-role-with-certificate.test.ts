import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect, it } from 'vitest';
import { assumeRoleWithCertificate } from './assume-role-with-certificate.ts';

const now = new Date('2026-01-01T00:00:00Z');

/** A certificate that signs itself, for client authentication. */
async function certificate(isAuthority: boolean): Promise<X509Certificate> {
  x509.cryptoProvider.set(webcrypto);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=readonly',
    notBefore: new Date(now.getTime() - 1_000),
    notAfter: new Date(now.getTime() + 7_200_000),
    signingAlgorithm: algorithm,
    keys: await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']),
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
  return new X509Certificate(Buffer.from(made.rawData));
}

async function assumed(isAuthority: boolean) {
  const found = await certificate(isAuthority);
  const action = assumeRoleWithCertificate({
    settings: { skipVerify: false },
    clock: () => now,
    // The policy of the common name is the first thing that is asked about a certificate that is taken.
    identities: { policy: () => Promise.resolve(undefined), policiesOf: () => Promise.resolve([]) },
  } as never);
  const parameters = { optional: () => undefined, required: () => '', names: [], bodyHash: '' };
  const request = { secure: true, clientCertificate: () => ({ certificate: found }) };
  return action.serve(parameters, request as never);
}

it('takes the certificate of a client alone, and none of an authority', async () => {
  await expect(assumed(true)).rejects.toMatchObject({
    code: 'InvalidClientCertificate',
    message: expect.stringContaining('of an authority') as string,
  });
  await expect(assumed(false)).rejects.toMatchObject({ message: expect.stringContaining('no policy') as string });
});
