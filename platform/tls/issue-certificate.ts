import { webcrypto, randomBytes, X509Certificate } from 'node:crypto';
import {
  importPrivateKey,
  makePrivateKey,
  type CertificateAlgorithm,
  type CertificateAndKey,
} from './certificate-and-key.ts';

/**
 * Loads the library that writes certificates on demand: the import takes about 94 ms, which programs that only read certificates need not
 * pay.
 */
async function loadX509() {
  // The library fails to load without it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** The clocks of two machines differ a little: the validity of a certificate begins this long before its creation. */
const clockSkewMs = 5 * 60_000;

/** Returns the validity of a new certificate. It ends at `notLaterThan`, the end of its issuer, at the latest. */
function validity(now: Date, validForMs: number, notLaterThan?: Date): { notBefore: Date; notAfter: Date } {
  const wanted = now.getTime() + validForMs;
  const end = notLaterThan === undefined ? wanted : Math.min(wanted, notLaterThan.getTime());
  return { notBefore: new Date(now.getTime() - clockSkewMs), notAfter: new Date(end) };
}

/** Makes a positive serial number of 16 bytes, hex. @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.2 */
function newSerialNumber(): string {
  const bytes = randomBytes(16);
  // With the top bit the number would be negative, and DER would drop a zero first byte.
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/**
 * A comment. Tools show it, and it has no other effect.
 *
 * @see https://docs.openssl.org/master/man5/x509v3_config/ (nsComment)
 */
const commentExtension = '2.16.840.1.113730.1.13';

/** @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.12 */
const anyUsage = '2.5.29.37.0';

const text = 'For testing only: made by hand, signed by itself';

/** Returns the DER of the comment, an IA5String. */
function testingMark(): Buffer {
  const ia5String = 0x16;
  return Buffer.from([ia5String, text.length, ...Buffer.from(text, 'ascii')]);
}

/** Reports whether a certificate was made for tests. */
export function isForTesting(certificate: X509Certificate): boolean {
  return certificate.raw.includes(testingMark());
}

export interface CertificateRequest {
  /** The subject; none where it is empty. */
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Milliseconds from now. The end of the issuer limits it. */
  readonly validForMs: number;
  readonly usages?: readonly ('server' | 'client' | 'any')[];
  readonly algorithm?: CertificateAlgorithm;
  /** The issuer. Without one the certificate signs itself. */
  readonly issuer?: CertificateAndKey;
  /** PKCS#8 PEM of an existing key, which keeps the identity of a renewed certificate. A new key by default. */
  readonly keyPem?: string;
  readonly now?: Date;
  /** Marks the certificate as one for tests. */
  readonly forTesting?: boolean;
}

/** Issues an end certificate for a server, a client or both (the default). */
export async function issueCertificate(request: CertificateRequest): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keyPem = request.keyPem ?? (await makePrivateKey(request.algorithm ?? 'ecdsa-p256'));
  const subject = importPrivateKey(keyPem);
  const issuer = request.issuer === undefined ? subject : importPrivateKey(request.issuer.keyPem);
  const issuerCertificate = request.issuer === undefined ? undefined : new x509.X509Certificate(request.issuer.certPem);
  const name = request.commonName === '' ? [] : [{ CN: [request.commonName] }];
  const usages = (request.usages ?? ['server', 'client']).map(
    (usage) =>
      ({ server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth, any: anyUsage })[usage],
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

interface CaRequest {
  readonly commonName: string;
  /** Milliseconds from now. */
  readonly validForMs: number;
  readonly algorithm?: CertificateAlgorithm;
  /** PKCS#8 PEM of an existing key, to renew a CA so that certificates it issued stay valid; a new key by default. */
  readonly keyPem?: string;
  readonly now?: Date;
}

/** Makes a certificate authority. It may issue end certificates, but no further authorities. */
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
