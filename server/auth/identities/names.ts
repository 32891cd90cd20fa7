import { IdentityError } from '../identity-error.ts';
import { randomBytes, randomInt } from 'node:crypto';

/** Bytes of UTF-8, because record keys have a maximum length. */
const maxName = 128;

/** Commas separate names in settings and claims, and control characters are not part of a name. */
// oxlint-disable-next-line no-control-regex -- they are what is refused
const notInNames = /[\u0000-\u001f\u007f,]/;
const notInAccessKeys = /[\p{Cc}/=,]/u;

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

/** The beginnings of the names of external users, and of ARNs, which policies take for other principals. */
const notOfUsers = /^(?:arn|tls|custom):/;

/**
 * Checks an access key. It may have what the header of a signature can carry: a comma ends a field of the header, a slash would be part of the
 * scope in some clients, and an `=` makes a DN.
 */
export function checkAccessKey(accessKey: string): void {
  const bytes = Buffer.byteLength(accessKey);
  const isLong = accessKey.length >= 3 && bytes <= maxName;
  const isCarried = accessKey === accessKey.trim() && accessKey.isWellFormed() && !notInAccessKeys.test(accessKey);
  if (isLong && isCarried && !notOfUsers.test(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `An access key has 3 to ${maxName} bytes, without / = , and control characters, does not begin or end with a space, nor begin with arn: tls: or custom: ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}

/** The name of a user of an OpenID provider: base64url of a SHA-256. Policies and administrators use it. */
const externalUserHash = /^[\w-]{43}$/;

export function isExternalUserHash(name: string): boolean {
  return externalUserHash.test(name);
}

/** Rejects names that external users can have. Those have an `=`, begin with their kind, or are a hash. */
export function checkNewAccessKey(accessKey: string): void {
  checkAccessKey(accessKey);
  if (!isExternalUserHash(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `The access key ${JSON.stringify(accessKey)} has the form of a name that external users have: choose one of another length than 43.`,
  );
}

export function checkSecretKey(secretKey: string): void {
  const isLong = secretKey.length >= 8 && Buffer.byteLength(secretKey) <= maxName;
  if (isLong && secretKey.isWellFormed() && !/\p{Cc}/u.test(secretKey)) return;
  throw new IdentityError(
    'invalid-secret-key',
    `A secret key has at least 8 characters, at most ${maxName} bytes, and no control character.`,
  );
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
