import { IdentityError } from '../identity-error.ts';
import { randomBytes, randomInt } from 'node:crypto';

/** Bytes of UTF-8, because record keys have a maximum length. */
const maxName = 128;

/** Commas separate names in settings and claims, and control characters are no part of a name. */
// oxlint-disable-next-line no-control-regex -- they are what is refused
const notInNames = /[\u0000-\u001f\u007f,]/;

export function checkName(kind: 'policy' | 'group', name: string): void {
  const issue =
    name === '' || name !== name.trim()
      ? 'must not be empty, nor begin or end with a space'
      : Buffer.byteLength(name) > maxName
        ? `has more than ${maxName} bytes`
        : notInNames.test(name) || !name.isWellFormed()
          ? 'must hold no comma and no control character'
          : undefined;
  if (issue === undefined) return;
  throw new IdentityError('invalid-name', `The name of a ${kind} ${issue}: ${JSON.stringify(name.slice(0, 128))}.`);
}

/**
 * Checks an access key. A slash would break the credential scope of a signature; the other characters would break the formats that carry
 * it.
 */
export function checkAccessKey(accessKey: string): void {
  if (/^[^\s/=,:;"'\\<>]{3,128}$/u.test(accessKey) && /^[ -~]+$/.test(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `An access key has 3 to 128 letters, digits or signs, without spaces and / = , : ; " ' \\ < >: ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}

/** The name of a user of an OpenID provider: base64url of a SHA-256. Policies and administrators use it. */
const externalUserHash = /^[\w-]{43}$/;

export function isExternalUserHash(name: string): boolean {
  return externalUserHash.test(name);
}

/** Rejects names that external users can have. Those have `=` or `:`, or are a hash. */
export function checkNewAccessKey(accessKey: string): void {
  checkAccessKey(accessKey);
  if (!isExternalUserHash(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `The access key ${JSON.stringify(accessKey)} has the form of a name that external users have: choose one of another length than 43.`,
  );
}

export function checkSecretKey(secretKey: string): void {
  if (secretKey.length >= 8 && secretKey.length <= 128 && /^[ -~]+$/.test(secretKey)) return;
  throw new IdentityError('invalid-secret-key', 'A secret key has 8 to 128 printable ASCII characters.');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** 20 characters out of 36: 103 random bits. */
export function newAccessKey(): string {
  return Array.from({ length: 20 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/** 40 characters of base64, without `/`, which some clients do not escape. */
export function newSecretKey(): string {
  return randomBytes(30).toString('base64').replaceAll('/', '+');
}
