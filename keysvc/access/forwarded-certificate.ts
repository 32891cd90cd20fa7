import { X509Certificate } from 'node:crypto';

/** Certificates that a TLS proxy saw, in their order; undefined where the header holds none that can be read. */
export function readForwardedCertificates(header: string): X509Certificate[] | undefined {
  let pem: string;
  try {
    // Escaped as in a URL, since a header has no line breaks.
    pem = decodeURIComponent(header);
  } catch {
    return undefined;
  }
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** The use that a client's certificate must be for, where it names any. */
const clientAuthentication = '1.3.6.1.5.5.7.3.2';

/** More links than any chain has. */
const maxChain = 8;

/**
 * Why a forwarded certificate is not trusted; undefined where it is: it is valid now, for clients, and a chain of valid certificates
 * leads to an authority. The proxy's handshake proved that the client holds its key.
 */
export function distrustOf(
  leaf: X509Certificate,
  sent: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: number,
): string | undefined {
  // Node's types say string[] always; a certificate without the extension has none.
  const uses = leaf.keyUsage as readonly string[] | undefined;
  if (uses !== undefined && !uses.includes(clientAuthentication)) return 'it is not for clients';
  let current = leaf;
  for (let link = 0; link < maxChain; link++) {
    if (now < current.validFromDate.getTime()) return `${current.subject} is not valid yet`;
    if (now > current.validToDate.getTime()) return `${current.subject} has expired`;
    const authority = issuerOf(current, authorities);
    if (authority !== undefined) return now > authority.validToDate.getTime() ? 'its authority has expired' : undefined;
    const next = issuerOf(
      current,
      sent.filter((certificate) => certificate.ca),
    );
    if (next === undefined || next === current) break;
    current = next;
  }
  return 'no trusted authority issued it';
}

function issuerOf(certificate: X509Certificate, candidates: readonly X509Certificate[]): X509Certificate | undefined {
  return candidates.find(
    (candidate) => candidate.ca && certificate.checkIssued(candidate) && certificate.verify(candidate.publicKey),
  );
}

/** The certificates of a PEM bundle. */
export function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
