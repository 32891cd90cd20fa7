import { createHash, createPublicKey, X509Certificate, type KeyObject, createPrivateKey } from 'node:crypto';

/**
 * The identity of a caller is the SHA-256 of its public key, in lower-case hex. A renewed certificate for the same key keeps the identity.
 */
export type Identity = string & { readonly __brand: 'Identity' };

/** Reports whether a text has the form of an identity. */
export function isIdentity(text: string): text is Identity {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Computes the identity of the holder of a public key: the hash of its DER SubjectPublicKeyInfo. */
export function identityOfPublicKey(key: KeyObject): Identity {
  const spki = key.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex') as Identity;
}

/**
 * Computes the identity of a certificate, which is PEM (the first of several counts), DER or parsed. Throws where the input is no
 * certificate.
 */
export function identityOfCertificate(certificate: string | Buffer | X509Certificate): Identity {
  const parsed = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate);
  return identityOfPublicKey(createPublicKey(parsed.publicKey.export({ type: 'spki', format: 'pem' })));
}

const prefix = 'kes:v1:';
/** The DER of a PKCS#8 Ed25519 private key up to its 32-byte seed (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An API key takes the place of a client certificate: it holds an Ed25519 key, and the client makes a certificate from it. */
interface ApiKey {
  readonly privateKey: KeyObject;
  readonly identity: Identity;
}

/** Reports whether a text begins like an API key. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(prefix);
}

/** Reads `kes:v1:BASE64`, 33 bytes: the type (0 for Ed25519) and the seed. The message of an error never holds the key. */
export function parseApiKey(text: string): ApiKey {
  if (!looksLikeApiKey(text)) throw new Error(`an API key begins with "${prefix}"`);
  const bytes = Buffer.from(text.slice(prefix.length), 'base64');
  if (bytes.length !== 33) throw new Error(`an API key holds 33 bytes, this one ${bytes.length}`);
  if (bytes[0] !== 0) throw new Error(`an API key of type ${bytes[0]} is unknown; only type 0 (Ed25519) is`);
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Head, bytes.subarray(1)]),
    format: 'der',
    type: 'pkcs8',
  });
  return { privateKey, identity: identityOfPublicKey(createPublicKey(privateKey)) };
}

/** Writes an Ed25519 private key as an API key. */
export function formatApiKey(privateKey: KeyObject): string {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('an API key is made from an Ed25519 private key');
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  return prefix + Buffer.concat([Buffer.from([0]), der.subarray(pkcs8Head.length)]).toString('base64');
}
