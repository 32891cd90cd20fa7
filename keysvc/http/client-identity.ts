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

/** More than the length of any chain. The server ignores the rest. */
const maxCertificates = 16;

/**
 * Returns the identity of a connection's client certificate, which is its only leaf. Certificates of authorities are skipped. Two leaves
 * are refused, since the handshake proves only the key of the first.
 */
export function clientIdentity(socket: TLSSocket, options: { readonly verify: boolean }): ClientIdentity {
  const found = identityOfLeaf(sentCertificates(socket));
  if (found.kind === 'unknown') return found;
  if (options.verify && !socket.authorized) {
    // The handshake accepts every certificate: Node could end it, but without an alert that gives the reason.
    const { authorizationError } = socket as { readonly authorizationError?: unknown };
    return untrusted(found.leaf, explainDistrust(String(authorizationError), found.leaf));
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
    default:
      return `the client certificate is not trusted: ${code}`;
  }
}

/** Makes the result for an untrusted certificate, with what its holder and the administrators need to correct it. */
export function untrusted(leaf: X509Certificate, why: string): UnknownClient {
  const certificate = {
    subject: leaf.subject.replaceAll('\n', ', '),
    identity: identityOfCertificate(leaf),
    validUntil: leaf.validToDate.toISOString(),
    why,
  };
  return { kind: 'unknown', refusal: 'notPermitted', reason: why, certificate };
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
