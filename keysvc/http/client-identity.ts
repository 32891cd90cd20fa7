import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { identityOfCertificate, type Identity } from '../../protocol/key-service/identity.ts';
import {
  describeCertificate,
  sentCertificates,
  verificationError,
  type VerificationError,
} from '../../platform/tls/client-certificate.ts';
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

/** Returns the identity of a connection's client certificate. */
export function clientIdentity(socket: TLSSocket, options: VerifyOptions): ClientIdentity {
  const found = identityOfLeaf(sentCertificates(socket));
  if (found.kind === 'unknown' || !options.verify) return found;
  // The handshake accepts every certificate: Node could end it, but without an alert that gives the reason.
  const error = verificationError(socket, options);
  return error === undefined ? found : untrusted(found.leaf, explainDistrust(error, found.leaf));
}

function explainDistrust({ code, reason }: VerificationError, leaf: X509Certificate): string {
  if (reason !== undefined) return `the client certificate is not trusted: ${reason}`;
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
      return 'no trusted authority issued the client certificate: name its authority by tls.ca of the key service, or start that with --auth=off, which takes any certificate';
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
 * Returns the identity of the first certificate, whose key the handshake has proved. Certificates of authorities may follow. An authority is
 * not a client, and a second certificate of a client is refused.
 */
export function identityOfLeaf(
  sent: readonly X509Certificate[],
): { readonly kind: 'known'; readonly identity: Identity; readonly leaf: X509Certificate } | UnknownClient {
  const [leaf, ...others] = sent;
  if (leaf === undefined || leaf.ca) {
    const reason = `the client sent no certificate of its own${leaf === undefined ? '' : ', but that of an authority'}`;
    return { kind: 'unknown', refusal: 'noClientCertificate', reason };
  }
  const leaves = others.filter((certificate) => !certificate.ca).length + 1;
  if (leaves > 1) {
    const reason = `the client sent ${leaves} certificates`;
    return { kind: 'unknown', refusal: 'tooManyClientCertificates', reason };
  }
  return { kind: 'known', identity: identityOfCertificate(leaf), leaf };
}
