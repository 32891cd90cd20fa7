import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair as generateKeyPairWithCallback,
  type KeyObject,
  type webcrypto,
} from 'node:crypto';
import { promisify } from 'node:util';

const generateKeyPair = promisify(generateKeyPairWithCallback);

/** A certificate and its private key, both PEM; the key is PKCS#8. The key is a secret: files with it have the mode 0600. */
export interface CertificateAndKey {
  readonly certPem: string;
  readonly keyPem: string;
}

/** `ecdsa-p256` is for certificates that other programs read; Ed25519 if only clients of the key service read them. */
export type CertificateAlgorithm = 'ecdsa-p256' | 'ed25519';

/** Makes a private key, PKCS#8 PEM. */
export async function makePrivateKey(algorithm: CertificateAlgorithm): Promise<string> {
  const { privateKey } =
    algorithm === 'ed25519'
      ? await generateKeyPair('ed25519')
      : await generateKeyPair('ec', { namedCurve: 'prime256v1' });
  return privateKeyPem(privateKey);
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

/** Imports a PEM private key as a pair of Web Crypto keys, with the algorithm of its signatures. */
export function importPrivateKey(keyPem: string): {
  keys: webcrypto.CryptoKeyPair;
  signingAlgorithm: webcrypto.Algorithm | webcrypto.EcdsaParams;
} {
  const privateKey = createPrivateKey(keyPem);
  const publicKey = createPublicKey(privateKey);
  if (privateKey.asymmetricKeyType === 'ed25519') {
    const algorithm = { name: 'Ed25519' };
    return { keys: toPair(privateKey, publicKey, algorithm), signingAlgorithm: algorithm };
  }
  if (privateKey.asymmetricKeyType === 'ec' && privateKey.asymmetricKeyDetails?.namedCurve === 'prime256v1') {
    const keys = toPair(privateKey, publicKey, { name: 'ECDSA', namedCurve: 'P-256' });
    return { keys, signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' } };
  }
  throw new Error(
    `a certificate can be made for an ECDSA P-256 or Ed25519 key, not for one of type ${keyType(privateKey)}`,
  );
}

function toPair(
  privateKey: KeyObject,
  publicKey: KeyObject,
  algorithm: webcrypto.Algorithm | webcrypto.EcKeyImportParams,
): webcrypto.CryptoKeyPair {
  return {
    privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
    publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
  };
}

function keyType(key: KeyObject): string {
  return `${key.asymmetricKeyType ?? 'unknown'} ${key.asymmetricKeyDetails?.namedCurve ?? ''}`.trim();
}
