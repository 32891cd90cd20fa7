import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** The identity of a caller: lower-case hex SHA-256 of its public key. It stays when a certificate is renewed for the same key. */
export type Identity = string & { readonly __brand: 'Identity' };

/** Whether a word is an identity hash. */
export function isIdentity(text: string): text is Identity {
  return /^[0-9a-f]{64}$/.test(text);
}

/** The identity of the holder of a public key: the hash of its DER SubjectPublicKeyInfo. */
export function identityOfPublicKey(key: KeyObject): Identity {
  const spki = key.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex') as Identity;
}

/** The identity of a certificate, given as PEM (the first one of several counts), DER or parsed. Errors where it is none. */
export function identityOfCertificate(certificate: string | Buffer | X509Certificate): Identity {
  const parsed = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate);
  return identityOfPublicKey(createPublicKey(parsed.publicKey.export({ type: 'spki', format: 'pem' })));
}
