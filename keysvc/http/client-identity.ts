import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { identityOfCertificate, type Identity } from '../../protocol/key-service/identity.ts';
import type { Refusal } from '../../protocol/key-service/errors.ts';

/** Who is at the other end of a connection, or why nobody is. */
export type ClientIdentity = { readonly kind: 'known'; readonly identity: Identity } | UnknownClient;

interface UnknownClient {
  readonly kind: 'unknown';
  readonly refusal: Refusal;
  readonly reason: string;
  /** The certificate that was refused; absent where none came, or several. */
  readonly certificate?: RefusedCertificate;
}

/** A certificate whose key the client holds, and which the server does not trust. */
interface RefusedCertificate {
  readonly subject: string;
  readonly identity: Identity;
  /** RFC 3339. */
  readonly validUntil: string;
  /** `has expired (it was valid until …)`: also for the client, whose own certificate it is. */
  readonly why: string;
}

/** More certificates than any chain has: the rest is not looked at. */
const maxCertificates = 16;

/**
 * The identity behind a connection's client certificate: that of its one leaf. Certificates of authorities are skipped; two leaves
 * are refused, since the handshake proves the key of the first alone.
 */
export function clientIdentity(socket: TLSSocket, options: { readonly verify: boolean }): ClientIdentity {
  const found = identityOfLeaf(sentCertificates(socket));
  if (found.kind === 'unknown') return found;
  if (options.verify && !socket.authorized) {
    // The handshake lets everyone in: Node can end it, but neither by an alert nor by anything that says why.
    const { authorizationError } = socket as { readonly authorizationError?: unknown };
    return untrusted(found.leaf, explainDistrust(String(authorizationError), found.leaf));
  }
  return { kind: 'known', identity: found.identity };
}

/** Why OpenSSL does not trust a certificate, by the name of its error. */
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
    default:
      return `the client certificate is not trusted: ${code}`;
  }
}

/** The refusal of a certificate, with all that its holder and the administrators need to mend it. */
export function untrusted(leaf: X509Certificate, why: string): UnknownClient {
  const certificate = {
    subject: leaf.subject.replaceAll('\n', ', '),
    identity: identityOfCertificate(leaf),
    validUntil: leaf.validToDate.toISOString(),
    why,
  };
  return { kind: 'unknown', refusal: 'notPermitted', reason: why, certificate };
}

/** The one certificate among several that is no authority's, and whom it stands for. */
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
 * Every certificate the client sent, in its order: `issuerCertificate` is the next one sent, whether it issued this one or not
 * (`getPeerCertificate(true)` would hide a second leaf).
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
