import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

/** Returns the certificates of a PEM in their order. Text between them counts as comment, as for OpenSSL. */
export function certificatesIn(pem: Buffer): X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * Returns why clients may refuse the chain of a server, whose own certificate is the first one; undefined if nothing is wrong with it. A server that
 * sends the certificates in another order, or without one between its own and a root, works with the clients that guess or fetch the rest, and with no others.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5246#section-7.4.2
 */
export function chainWarning(pem: Buffer): string | undefined {
  const chain = certificatesIn(pem);
  for (const [index, certificate] of chain.entries()) {
    if (isRoot(certificate)) return undefined;
    const next = chain[index + 1];
    if (next !== undefined && certificate.checkIssued(next)) continue;
    const issuer = nameOf(certificate.issuer);
    if (chain.some((other) => other !== certificate && certificate.checkIssued(other))) {
      return `has its certificates in the wrong order: that of "${issuer}" must come right after that of "${nameOf(certificate.subject)}", which it issued`;
    }
    if (next !== undefined) {
      return `has a certificate that does not belong to its chain: "${nameOf(next.subject)}" did not issue "${nameOf(certificate.subject)}"`;
    }
    // The issuers of private authorities are often roots that the clients have. Authorities that name a place for theirs have intermediate ones.
    if (certificate.infoAccess?.includes('CA Issuers') !== true || isKnownRoot(certificate)) return undefined;
    return `lacks the certificate of its issuer "${issuer}": clients that do not have it refuse the connection. Append it to the file, after that of "${nameOf(certificate.subject)}", unless it is a root that your clients trust`;
  }
  return undefined;
}

function isRoot(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer;
}

function isKnownRoot(certificate: X509Certificate): boolean {
  return rootCertificates.some((root) => certificate.checkIssued(new X509Certificate(root)));
}

/** Returns the common name of a subject or issuer, and all of it where there is none. */
function nameOf(name: string | undefined): string {
  return /(?:^|\n)CN=(.*)/.exec(name ?? '')?.[1] ?? (name ?? '').replaceAll('\n', ', ');
}
