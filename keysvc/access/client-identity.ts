import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { Identity } from '../../protocol/key-service/identity.ts';
import type { Refusal } from '../../protocol/key-service/errors.ts';

/** Who is at the other end of a connection, or why nobody is. */
export type ClientIdentity = { readonly kind: 'known'; readonly identity: Identity } | UnknownClient;

export interface UnknownClient {
  readonly kind: 'unknown';
  readonly refusal: Refusal;
  readonly reason: string;
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
    // Where some calls need no certificate, the handshake lets anyone in and the check is made here.
    const reason = `the client certificate is not trusted: ${String(socket.authorizationError)}`;
    return { kind: 'unknown', refusal: 'notPermitted', reason };
  }
  return { kind: 'known', identity: found.identity };
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
