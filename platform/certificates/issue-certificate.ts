import { X509Certificate } from 'node:crypto';
import { importPrivateKey, makePrivateKey } from './certificate-and-key.ts';
import type { CertificateAlgorithm, CertificateAndKey } from './certificate-and-key.ts';
import { loadX509 } from './load-x509.ts';
import { commentExtension, testingMark } from './testing-mark.ts';
import { newSerialNumber, validity } from './validity.ts';

export interface CertificateRequest {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Milliseconds from now; cut to what is left of the issuer. */
  readonly validForMs: number;
  readonly usages?: readonly ('server' | 'client')[];
  readonly algorithm?: CertificateAlgorithm;
  /** Who signs it; without one the certificate signs itself. */
  readonly issuer?: CertificateAndKey;
  /** PKCS#8 PEM of an existing key: a renewal with it keeps the identity. A new key by default. */
  readonly keyPem?: string;
  readonly now?: Date;
  /** Marks it as one for tests alone. */
  readonly forTesting?: boolean;
}

/** Issues an end certificate for a server, a client or both (the default). */
export async function issueCertificate(request: CertificateRequest): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keyPem = request.keyPem ?? (await makePrivateKey(request.algorithm ?? 'ecdsa-p256'));
  const subject = importPrivateKey(keyPem);
  const issuer = request.issuer === undefined ? subject : importPrivateKey(request.issuer.keyPem);
  const issuerCertificate = request.issuer === undefined ? undefined : new x509.X509Certificate(request.issuer.certPem);
  const name = [{ CN: [request.commonName] }];
  const usages = (request.usages ?? ['server', 'client']).map(
    (usage) => x509.ExtendedKeyUsage[usage === 'server' ? 'serverAuth' : 'clientAuth'],
  );
  const alternativeNames = [
    ...(request.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(request.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: issuerCertificate?.subject ?? name,
    serialNumber: newSerialNumber(),
    ...validity(request.now ?? new Date(), request.validForMs, endOf(request.issuer)),
    signingAlgorithm: issuer.signingAlgorithm,
    publicKey: subject.keys.publicKey,
    signingKey: issuer.keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      ...(alternativeNames.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(alternativeNames)]),
      await x509.SubjectKeyIdentifierExtension.create(subject.keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
      ...(request.forTesting === true ? [new x509.Extension(commentExtension, false, testingMark())] : []),
    ],
  });
  return { certPem: `${certificate.toString('pem')}\n`, keyPem };
}

function endOf(issuer: CertificateAndKey | undefined): Date | undefined {
  return issuer === undefined ? undefined : new X509Certificate(issuer.certPem).validToDate;
}
