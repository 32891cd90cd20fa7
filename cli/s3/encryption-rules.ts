import { createHash } from 'node:crypto';
import { ProgramError } from '../../platform/errors/program-error.ts';
import type { ObjectHeaders } from './objects.ts';

/**
 * The flags that encrypt, each repeatable: `--enc-c PLACE=KEY`, `--enc-kms PLACE=KEYID`, `--enc-s3 PLACE`; `--enc-none PLACE` leaves copies to the
 * default of their bucket, also where their sources are encrypted. The old ones take a list:
 * `--encrypt PLACE,PLACE` is for `--enc-s3`, and `--encrypt-key PLACE=KEY,PLACE=KEY` for `--enc-c` with the 32 characters of the key.
 */
export interface EncryptionOptions {
  readonly encC?: readonly string[];
  readonly encKms?: readonly string[];
  readonly encS3?: readonly string[];
  readonly encNone?: readonly string[];
  readonly encrypt?: string;
  readonly encryptKey?: string;
}

type Rule = { readonly place: string } & (
  | { readonly kind: 'SSE-C'; readonly key: Buffer }
  | { readonly kind: 'SSE-KMS'; readonly keyId: string }
  | { readonly kind: 'SSE-S3' | 'none' }
);

/** Says which objects are encrypted how. The longest place `ALIAS/bucket/prefix` that an object begins with decides. */
export class EncryptionRules {
  readonly #rules: readonly Rule[];

  /**
   * `names` are the arguments of a command that writes. Flags that are all for other places are refused: the user would take the objects for
   * encrypted.
   *
   * @throws ProgramError BadArgument; the message does not repeat a key
   */
  constructor(options: EncryptionOptions, env: NodeJS.ProcessEnv, names?: readonly string[]) {
    if (names !== undefined) requirePlaces(new EncryptionRules(options, {}).#rules, names);
    const { encC = [], encKms = listOf(env['MC_ENC_KMS']), encS3 = listOf(env['MC_ENC_S3']), encNone = [] } = options;
    const { encrypt = env['MC_ENCRYPT'], encryptKey = env['MC_ENCRYPT_KEY'] } = options;
    this.#rules = [
      ...encC.map((text) => customerRule(text)),
      ...listOf(encryptKey).map((text) => characterRule(text)),
      ...listOf(encrypt).map((place) => ({ kind: 'SSE-S3', place }) as const),
      ...encKms.map((text) => kmsRule(text)),
      ...encS3.map((place) => ({ kind: 'SSE-S3', place }) as const),
      ...encNone.map((place) => ({ kind: 'none', place }) as const),
    ].sort((one, other) => other.place.length - one.place.length);
    const places = this.#rules.map(({ place }) => place);
    const twice = places.find((place, index) => places.indexOf(place) !== index);
    if (twice !== undefined) throw new ProgramError('BadArgument', `\`${twice}\` has two kinds of encryption`);
  }

  /** The headers of a request that makes an object. `name` is `ALIAS/bucket/key`. */
  forNew(name: string): ObjectHeaders {
    const rule = this.#find(name);
    if (rule?.kind === 'SSE-S3') return { 'x-amz-server-side-encryption': 'AES256' };
    if (rule?.kind !== 'SSE-KMS') return this.forKey(name);
    return {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': rule.keyId,
    };
  }

  /** The headers of a copy that a flag gives an encryption; undefined leaves it that of its source. */
  forCopy(name: string): ObjectHeaders | undefined {
    return this.#find(name) === undefined ? undefined : this.forNew(name);
  }

  /** The headers of a request that reads an object or uploads a part of one: only a key of the client has to be sent. */
  forKey(name: string): ObjectHeaders {
    return this.#customerKey(name, 'x-amz-server-side-encryption-customer');
  }

  /** The headers of a copy for the key of its source. */
  forCopySource(name: string): ObjectHeaders {
    return this.#customerKey(name, 'x-amz-copy-source-server-side-encryption-customer');
  }

  #customerKey(name: string, header: string): ObjectHeaders {
    const rule = this.#find(name);
    if (rule?.kind !== 'SSE-C') return {};
    return {
      [`${header}-algorithm`]: 'AES256',
      [`${header}-key`]: rule.key.toString('base64'),
      [`${header}-key-md5`]: createHash('md5').update(rule.key).digest('base64'),
    };
  }

  #find(name: string): Rule | undefined {
    return this.#rules.find(({ place }) => name.startsWith(place));
  }
}

/** @throws ProgramError BadArgument where no rule is for a place of these names. A script may pass the rules of all its places to each command. */
function requirePlaces(rules: readonly Rule[], names: readonly string[]): void {
  const places = names.map(withSingleSlashes);
  const isFor = (place: string) =>
    places.some((name) => name.startsWith(place) || place.startsWith(name.endsWith('/') ? name : `${name}/`));
  if (rules.length === 0 || rules.some(({ place }) => isFor(withSingleSlashes(place)))) return;
  const given = rules.map(({ place }) => `\`${place}\``).join(' and ');
  const named = names.map((name) => `\`${name}\``).join(' or ');
  throw new ProgramError(
    'BadArgument',
    `${given} ${rules.length === 1 ? 'is' : 'are'} no place of ${named}: nothing would be encrypted`,
  );
}

function withSingleSlashes(name: string): string {
  return name.replaceAll(/\/{2,}/g, '/');
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((one) => one !== '');
}

function customerRule(text: string): Rule {
  const [place, value] = partsOf('--enc-c', text);
  const isHex = /^[0-9a-f]{64}$/i.test(value);
  const key = Buffer.from(value, isHex ? 'hex' : 'base64url');
  if (key.length === 32 && (isHex || /^[\w+/-]{43}=?$/.test(value))) return { kind: 'SSE-C', place, key };
  throw new ProgramError(
    'BadArgument',
    `Invalid --enc-c for \`${place}\`: the key is 32 bytes in base64 or hexadecimal`,
  );
}

/** The key is the characters themselves. */
function characterRule(text: string): Rule {
  const [place, value] = partsOf('--encrypt-key', text);
  const key = Buffer.from(value);
  if (key.length === 32) return { kind: 'SSE-C', place, key };
  throw new ProgramError('BadArgument', `Invalid --encrypt-key for \`${place}\`: the key has 32 characters`);
}

function kmsRule(text: string): Rule {
  const [place, keyId] = partsOf('--enc-kms', text);
  return { kind: 'SSE-KMS', place, keyId };
}

/** The value begins after the last `=` that ends a place; a key may end with one. */
function partsOf(option: string, text: string): readonly [place: string, value: string] {
  const [, place = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (place !== '' && value !== '') return [place, value];
  throw new ProgramError('BadArgument', `Invalid ${option}: write ALIAS/BUCKET/PREFIX=KEY`);
}
