import { randomBytes, randomInt } from 'node:crypto';

/** Why a change of identities is refused. The admin API and the console have names of their own for these. */
export type IdentityErrorCode =
  | 'no-such-user'
  | 'no-such-group'
  | 'no-such-policy'
  | 'no-such-service-account'
  | 'access-key-in-use'
  | 'invalid-access-key'
  | 'invalid-secret-key'
  | 'invalid-name'
  | 'invalid-expiration'
  | 'group-not-empty'
  | 'policy-in-use'
  | 'policy-changed'
  | 'policy-built-in'
  | 'nothing-to-change'
  | 'busy';

/** A refusal; `message` says what, with which value, and what to do. It names no secret. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: IdentityErrorCode;
  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Bytes of UTF-8: keys of records have a bound. */
const longestName = 128;

/** Commas separate names in settings and claims; control characters belong in no name. */
// oxlint-disable-next-line no-control-regex -- they are what is refused
const notInNames = /[\u0000-\u001f\u007f,]/;

export function checkName(kind: 'policy' | 'group', name: string): void {
  const problem =
    name === '' || name !== name.trim()
      ? 'must not be empty, nor begin or end with a space'
      : Buffer.byteLength(name) > longestName
        ? `has more than ${longestName} bytes`
        : notInNames.test(name) || !name.isWellFormed()
          ? 'must hold no comma and no control character'
          : undefined;
  if (problem === undefined) return;
  throw new IdentityError('invalid-name', `The name of a ${kind} ${problem}: ${JSON.stringify(name.slice(0, 128))}.`);
}

/** What an access key may be: the slash would break the credential scope of a signature, the others the forms that carry it. */
export function checkAccessKey(accessKey: string): void {
  if (/^[^\s/=,:;"'\\<>]{3,128}$/u.test(accessKey) && /^[ -~]+$/.test(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `An access key has 3 to 128 letters, digits or signs, without spaces and / = , : ; " ' \\ < >: ${JSON.stringify(accessKey.slice(0, 128))}.`,
  );
}

/** How people of an OpenID provider are named: base64url of a SHA-256. Policies and administrators know them by it. */
const hashOfPerson = /^[\w-]{43}$/;

export function isPersonHash(name: string): boolean {
  return hashOfPerson.test(name);
}

/** A new user or access key must not have the form of a name that a person of a provider has. Those have `=` or `:`, or are a hash. */
export function checkNewAccessKey(accessKey: string): void {
  checkAccessKey(accessKey);
  if (!isPersonHash(accessKey)) return;
  throw new IdentityError(
    'invalid-access-key',
    `The access key ${JSON.stringify(accessKey)} has the form of the name of a person of an OpenID provider: choose one of another length than 43.`,
  );
}

export function checkSecretKey(secretKey: string): void {
  if (secretKey.length >= 8 && secretKey.length <= 128 && /^[ -~]+$/.test(secretKey)) return;
  throw new IdentityError('invalid-secret-key', 'A secret key has 8 to 128 printable ASCII characters.');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** 20 of 36 characters: 103 random bits. */
export function newAccessKey(): string {
  return Array.from({ length: 20 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/** 40 characters of base64; without `/`, which some clients forget to escape. */
export function newSecretKey(): string {
  return randomBytes(30).toString('base64').replaceAll('/', '+');
}
