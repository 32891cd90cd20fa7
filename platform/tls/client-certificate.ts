import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { extensionsOf, type CertificateExtensions } from './certificate-extensions.ts';

/** @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.12 */
const clientUsage = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/** Returns the extended key usages. Node's types say string[], but a certificate without the extension has undefined. */
function usesOf(certificate: Partial<X509Certificate>): readonly string[] | undefined {
  return certificate.keyUsage;
}

/** Reports whether a certificate says that it is for clients, or for everything. */
export function namesClientUse(certificate: X509Certificate): boolean {
  const uses = usesOf(certificate) ?? [];
  return uses.includes(clientUsage) || uses.includes(anyUsage);
}

/** Reports whether a certificate, or what an authority issues, may be for clients. A certificate without usages is for all of them. */
function isForClients(certificate: X509Certificate): boolean {
  return usesOf(certificate) === undefined || namesClientUse(certificate);
}

/** More than the length of any chain. The server ignores the rest. */
const maxCertificates = 16;

/**
 * Returns every certificate that the client sent, in its order. `issuerCertificate` is the next one, whether it issued this one or not;
 * `getPeerCertificate(true)` would hide a second leaf.
 */
export function sentCertificates(socket: TLSSocket): X509Certificate[] {
  const sent: X509Certificate[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && sent.length < maxCertificates) {
    sent.push(certificate);
    certificate = certificate.issuerCertificate;
  }
  return sent;
}

interface Authorities {
  readonly authorities: () => readonly X509Certificate[];
  readonly now: () => number;
}

export interface VerificationError {
  /** The error of OpenSSL. */
  readonly code: string;
  /** The fault of a certificate for every usage, of which OpenSSL says only that its purpose is another one. */
  readonly reason?: string | undefined;
}

/**
 * Returns why the client certificate of a connection is not trusted; undefined if it is. OpenSSL does not count the usage for everything as one
 * for clients, so that such a certificate is verified here.
 */
export function verificationError(socket: TLSSocket, options: Authorities): VerificationError | undefined {
  if (socket.authorized) return undefined;
  const code = String(socket.authorizationError ?? 'not verified');
  const sent = sentCertificates(socket);
  const [leaf] = sent;
  if (code !== 'INVALID_PURPOSE' || leaf === undefined || usesOf(leaf)?.includes(anyUsage) !== true) return { code };
  const reason = distrustOf(leaf, sent, options.authorities(), options.now());
  return reason === undefined ? undefined : { code, reason };
}

/** More than the length of any chain. */
const maxChain = 8;

/**
 * Returns why a certificate is not trusted; undefined when it is valid now, for clients, and a chain of valid certificates leads to an
 * authority. A TLS handshake has proved that the client holds the key.
 */
export function distrustOf(
  leaf: X509Certificate,
  sent: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: number,
): string | undefined {
  const extensions = readExtensions(leaf);
  if (!isForClients(leaf) || extensions?.signsHandshakes === false) return 'it is not for clients';
  const between = sent.filter((certificate) => certificate.ca && certificate !== leaf);
  // Each certificate is looked at once, at its least depth: a client may send authorities that issued each other.
  const unseen = new Set(between);
  let reason: string | undefined;
  let level: readonly X509Certificate[] = [leaf];
  for (let depth = 0; level.length > 0 && depth <= maxChain; depth += 1) {
    const next: X509Certificate[] = [];
    for (const certificate of level) {
      const own = ownDistrust(certificate, depth, now);
      // An authority that was renewed has several certificates, and one that is valid suffices.
      const reasons =
        own === undefined ? issuersOf(certificate, authorities).map((one) => ownDistrust(one, depth + 1, now)) : [own];
      if (reasons.includes(undefined)) return undefined;
      reason ??= reasons[0];
      if (own !== undefined) continue;
      for (const issuer of issuersOf(certificate, [...unseen])) {
        unseen.delete(issuer);
        next.push(issuer);
      }
    }
    level = next;
  }
  return reason ?? 'no trusted authority issued it';
}

/** `depth` counts the certificates of authorities between the leaf and this one, with it. */
function ownDistrust(certificate: X509Certificate, depth: number, now: number): string | undefined {
  const name = depth === 0 ? describeCertificate(certificate) : `its authority ${describeCertificate(certificate)}`;
  if (now < certificate.validFromDate.getTime()) return `${name} is not valid yet`;
  if (now > certificate.validToDate.getTime()) return `${name} has expired`;
  if (!isForClients(certificate)) return `${name} is not for clients`;
  const extensions = readExtensions(certificate);
  if (extensions === undefined || extensions.hasUnknownCritical)
    return `${name} has a critical extension that is not known`;
  // The limit counts the authorities below this one.
  if (depth - 1 > extensions.maxAuthoritiesBelow)
    return `${name} allows ${extensions.maxAuthoritiesBelow} authorities below it`;
  return undefined;
}

function readExtensions(certificate: X509Certificate): CertificateExtensions | undefined {
  try {
    return extensionsOf(certificate);
  } catch {
    return undefined;
  }
}

function issuersOf(certificate: X509Certificate, candidates: readonly X509Certificate[]): X509Certificate[] {
  return candidates.filter(
    (candidate) => candidate.ca && certificate.checkIssued(candidate) && certificate.verify(candidate.publicKey),
  );
}

/**
 * Returns the subject of a certificate or, where it has none, its alternative names or its serial number. cert-manager and SPIFFE issue
 * certificates without a subject.
 */
export function describeCertificate(certificate: X509Certificate): string {
  // Node's types say string, but what a certificate lacks is undefined.
  const { subject, subjectAltName, serialNumber } = certificate as Partial<X509Certificate>;
  return subject?.replaceAll('\n', ', ') ?? subjectAltName ?? `no subject, serial number ${serialNumber ?? 'unknown'}`;
}
