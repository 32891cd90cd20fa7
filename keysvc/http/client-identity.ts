import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { identityOfCertificate, type Identity } from '../../protocol/key-service/identity.ts';
import type { Refusal } from '../../protocol/key-service/errors.ts';

/** The identity of a client, or the reason why there is none. */
export type ClientIdentity = { readonly kind: 'known'; readonly identity: Identity } | UnknownClient;

interface UnknownClient {
  readonly kind: 'unknown';
  readonly refusal: Refusal;
  readonly reason: string;
  /** The refused certificate; absent where the client sent none, or several. */
  readonly certificate?: RejectedCertificate;
}

/** A certificate that the server does not trust. The client holds its key. */
interface RejectedCertificate {
  readonly subject: string;
  readonly identity: Identity;
  /** RFC 3339. */
  readonly validUntil: string;
  /** The reason, such as `has expired (it was valid until …)`. The client may see it, since it is its own certificate. */
  readonly why: string;
}

interface VerifyOptions {
  readonly verify: boolean;
  readonly authorities: () => readonly X509Certificate[];
  readonly now: () => number;
}

/** More than the length of any chain. The server ignores the rest. */
const maxCertificates = 16;

/**
 * Returns the identity of a connection's client certificate, which is its only leaf. Certificates of authorities are skipped. Two leaves
 * are refused, since the handshake proves only the key of the first.
 */
export function clientIdentity(socket: TLSSocket, options: VerifyOptions): ClientIdentity {
  const sent = sentCertificates(socket);
  const found = identityOfLeaf(sent);
  if (found.kind === 'unknown') return found;
  if (options.verify && !socket.authorized) {
    // The handshake accepts every certificate: Node could end it, but without an alert that gives the reason.
    const { authorizationError } = socket as { readonly authorizationError?: unknown };
    // OpenSSL does not count the usage for everything as one for clients.
    const isForAny = authorizationError === 'INVALID_PURPOSE' && usesOf(found.leaf)?.includes(anyUsage) === true;
    const isTrusted = isForAny && distrustOf(found.leaf, sent, options.authorities(), options.now()) === undefined;
    if (!isTrusted) return untrusted(found.leaf, explainDistrust(String(authorizationError), found.leaf));
  }
  return { kind: 'known', identity: found.identity };
}

/** Explains an error of OpenSSL by its name. */
function explainDistrust(code: string, leaf: X509Certificate): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return leaf.validToDate.getTime() > Date.now()
        ? 'an authority of the client certificate has expired'
        : `the client certificate has expired: it was valid until ${leaf.validToDate.toISOString()}`;
    case 'CERT_NOT_YET_VALID':
      return `the client certificate is not valid before ${leaf.validFromDate.toISOString()}`;
    case 'INVALID_PURPOSE':
      return 'the client certificate is not for clients: its extended key usage lacks client authentication';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'no trusted authority issued the client certificate';
    case 'CERT_SIGNATURE_FAILURE':
      return 'the signature of the client certificate, or of one of its authorities, is wrong';
    case 'CERT_REVOKED':
      return 'the client certificate is revoked';
    case 'INVALID_CA':
    case 'PATH_LENGTH_EXCEEDED':
    case 'CERT_CHAIN_TOO_LONG':
      return 'a certificate that may not issue the client certificate is between it and its authority';
    case 'UNSPECIFIED':
      // Node has no name for these errors.
      return (
        'OpenSSL does not accept the client certificate: it, or one of its authorities, has a critical extension that OpenSSL does not know, ' +
        'a name that its authority may not give, or a form that is not valid'
      );
    default:
      return `the client certificate is not trusted (OpenSSL: ${code})`;
  }
}

/** Makes the result for an untrusted certificate, with what its holder and the administrators need to correct it. */
export function untrusted(leaf: X509Certificate, why: string): UnknownClient {
  const certificate = {
    subject: describeCertificate(leaf),
    identity: identityOfCertificate(leaf),
    validUntil: leaf.validToDate.toISOString(),
    why,
  };
  return { kind: 'unknown', refusal: 'notPermitted', reason: why, certificate };
}

/**
 * Returns the subject of a certificate or, where it has none, its alternative names or its serial number. cert-manager and SPIFFE issue
 * certificates without a subject.
 */
function describeCertificate(certificate: X509Certificate): string {
  // Node's types say string, but what a certificate lacks is undefined.
  const { subject, subjectAltName, serialNumber } = certificate as Partial<X509Certificate>;
  return subject?.replaceAll('\n', ', ') ?? subjectAltName ?? `no subject, serial number ${serialNumber ?? 'unknown'}`;
}

/** The extended key usages of a client certificate. */
const clientUsage = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

/** Node's types say string[], but a certificate without the extension has undefined. */
function usesOf(certificate: Partial<X509Certificate>): readonly string[] | undefined {
  return certificate.keyUsage;
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
  const uses = usesOf(leaf);
  if (uses !== undefined && !uses.includes(clientUsage) && !uses.includes(anyUsage)) return 'it is not for clients';
  let current = leaf;
  for (let link = 0; link < maxChain; link++) {
    if (now < current.validFromDate.getTime()) return `${describeCertificate(current)} is not valid yet`;
    if (now > current.validToDate.getTime()) return `${describeCertificate(current)} has expired`;
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

/** Returns the identity of the only certificate that is not an authority's. */
export function identityOfLeaf(
  certificates: readonly X509Certificate[],
): { readonly kind: 'known'; readonly identity: Identity; readonly leaf: X509Certificate } | UnknownClient {
  const leaves = certificates.filter((certificate) => !certificate.ca);
  const [leaf] = leaves;
  if (leaf === undefined) {
    return { kind: 'unknown', refusal: 'noClientCertificate', reason: 'the client sent no certificate of its own' };
  }
  if (leaves.length > 1) {
    return {
      kind: 'unknown',
      refusal: 'tooManyClientCertificates',
      reason: `the client sent ${leaves.length} certificates`,
    };
  }
  return { kind: 'known', identity: identityOfCertificate(leaf), leaf };
}

/**
 * Returns every certificate that the client sent, in its order. `issuerCertificate` is the next one, whether it issued this one or not;
 * `getPeerCertificate(true)` would hide a second leaf.
 */
function sentCertificates(socket: TLSSocket): X509Certificate[] {
  const sent: X509Certificate[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && sent.length < maxCertificates) {
    sent.push(certificate);
    certificate = certificate.issuerCertificate;
  }
  return sent;
}
