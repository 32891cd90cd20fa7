import { createPublicKey, verify } from 'node:crypto';
import { ProgramError } from '../../../platform/errors/program-error.ts';

/** The files of a release. The signature covers the text of this document. */
export interface Release {
  /** `1.2.3`. */
  readonly version: string;
  readonly files: readonly ReleaseFile[];
}

export interface ReleaseFile {
  /** Below the address of the release, and below the folder of the package. */
  readonly path: string;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
  readonly size: number;
}

/** The file that runs. It names the others, so that replacing it is the update. */
export const entryPath = 'lib/coffer.js';
const maxFiles = 2_000;
const maxBytes = 128 * 1_024 * 1_024;

/**
 * Verifies the Ed25519 signature of a manifest, and reads it. `key` is the public key in base64 (SPKI), `signature` is base64.
 *
 * @throws ProgramError BadConfig for the key, Untrusted for everything else
 */
export function readRelease(manifest: Buffer, signature: string, key: string): Release {
  if (!isSigned(manifest, signature, key)) {
    throw new ProgramError(
      'Untrusted',
      'The signature of the release does not match the public key; nothing was changed',
    );
  }
  let release: Partial<Release>;
  try {
    release = (JSON.parse(manifest.toString('utf8')) ?? {}) as Partial<Release>;
  } catch (error) {
    throw new ProgramError('Untrusted', 'The manifest of the release is not valid JSON', { cause: error });
  }
  const { version, files } = release;
  if (typeof version !== 'string' || !isVersion(version) || !Array.isArray(files) || files.length > maxFiles) {
    throw new ProgramError('Untrusted', 'The manifest of the release has no version, no files, or too many');
  }
  for (const file of files) checkFile(file);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes || !files.some(({ path }) => path === entryPath)) {
    throw new ProgramError('Untrusted', `The release is larger than ${maxBytes} bytes, or has no ${entryPath}`);
  }
  return { version, files };
}

function isSigned(manifest: Buffer, signature: string, key: string): boolean {
  let publicKey;
  try {
    publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  } catch (error) {
    throw new ProgramError('BadConfig', 'COFFER_UPDATE_KEY is no public key: it is an Ed25519 key (SPKI) in base64', {
      cause: error,
    });
  }
  if (publicKey.asymmetricKeyType !== 'ed25519') {
    throw new ProgramError(
      'BadConfig',
      `COFFER_UPDATE_KEY is a key of the type ${publicKey.asymmetricKeyType}, not ed25519`,
    );
  }
  return verify(undefined, manifest, publicKey, Buffer.from(signature.trim(), 'base64'));
}

function checkFile(file: unknown): asserts file is ReleaseFile {
  const { path, sha256, size } = (file ?? {}) as Partial<ReleaseFile>;
  // No path leaves the folder of the package, and no file of it is hidden.
  const good =
    typeof path === 'string' &&
    /^(?:lib|man)\/[\w-][\w.-]*$|^(?:package\.json|LICENSE)$/.test(path) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isSafeInteger(size) &&
    (size ?? -1) >= 0;
  if (!good) throw new ProgramError('Untrusted', `The manifest of the release has a bad file: ${JSON.stringify(file)}`);
}

function isVersion(text: string): boolean {
  return /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text);
}

/** Reports whether a version is newer than another one. Both are `1.2.3`. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [version.split('.').map(Number), than.split('.').map(Number)];
  for (const [index, number] of one.entries()) {
    const difference = number - (other[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
