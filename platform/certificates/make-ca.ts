import { importPrivateKey, makePrivateKey } from './certificate-and-key.ts';
import type { CertificateAlgorithm, CertificateAndKey } from './certificate-and-key.ts';
import { loadX509 } from './load-x509.ts';
import { newSerialNumber, validity } from './validity.ts';

export interface CaRequest {
  readonly commonName: string;
  /** Milliseconds from now. */
  readonly validForMs: number;
  readonly algorithm?: CertificateAlgorithm;
  /** PKCS#8 PEM of an existing key, to renew a CA so that certificates it issued stay valid; a new key by default. */
  readonly keyPem?: string;
  readonly now?: Date;
}

/** Makes a certificate authority that may issue end certificates, but no further authorities. */
export async function makeCa(request: CaRequest): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keyPem = request.keyPem ?? (await makePrivateKey(request.algorithm ?? 'ecdsa-p256'));
  const { keys, signingAlgorithm } = importPrivateKey(keyPem);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [request.commonName] }],
    serialNumber: newSerialNumber(),
    ...validity(request.now ?? new Date(), request.validForMs),
    signingAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: `${certificate.toString('pem')}\n`, keyPem };
}
