/** The headers of an answer, names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * All that makes a copy equal to its source, but for its body. Every way of making a copy reads it, and sends it by the functions of
 * `copy-headers.ts`. What is added here is carried by all of them. The guide `copies.md` has the table.
 */
export interface CopiedAttributes {
  /** `Content-Type` and the other headers that describe the body, and `Expires`. Names in lower case. */
  readonly content: Readonly<Record<string, string>>;
  /** The values of `x-amz-meta-*` as headers have them: what is not ASCII is in encoded words, or in bytes as they came. Names without prefix. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly websiteRedirect?: string;
  /** A class of S3. The name of a tier is none: the lifecycle of the bucket moves a copy as it moved its source. */
  readonly storageClass?: string;
  readonly encryption?: CopiedEncryption;
  readonly checksum?: CopiedChecksum;
  readonly lock: CopiedLock;
  /** The count; 0 also where it is hidden. */
  readonly tags: number;
  readonly hidden: HiddenAttributes;
}

export type CopiedEncryption =
  /** The key is with the client alone. */
  | { readonly kind: 'customer' }
  | {
      readonly kind: 'server';
      /** The value of `x-amz-server-side-encryption`. */
      readonly scheme: string;
      readonly keyId?: string;
      /** Base64 of the JSON. */
      readonly context?: string;
      readonly bucketKey: boolean;
    };

interface CopiedChecksum {
  readonly algorithm: string;
  readonly type: string;
  /** Base64. */
  readonly value: string;
}

/** A lock that is in force: neither a retention that has ended, nor a hold that is off. */
export interface CopiedLock {
  /** `until` is in ISO 8601. */
  readonly retention?: { readonly mode: string; readonly until: string };
  readonly legalHold?: true;
}

/** The attributes of the source that its answer does not show. */
interface HiddenAttributes {
  /** The count of entries of metadata whose values no header can have. */
  readonly metadata: number;
  /** The caller may not read them. */
  readonly rights: readonly HiddenRight[];
}

/**
 * The values of `x-coffer-hidden`, and the right that would show each.
 *
 * S3 leaves out what a caller may not read. Without a word, a copy would take it for absent.
 */
export const hiddenHeader = 'x-coffer-hidden';
export const rightsOfHidden = {
  tags: 's3:GetObjectTagging',
  retention: 's3:GetObjectRetention',
  'legal-hold': 's3:GetObjectLegalHold',
} as const;
export type HiddenRight = keyof typeof rightsOfHidden;

/** The headers that describe the body. */
export const contentHeaderNames = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
] as const;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
const storageClasses: ReadonlySet<string> = new Set([
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'DEEP_ARCHIVE',
  'GLACIER_IR',
  'OUTPOSTS',
  'SNOW',
  'EXPRESS_ONEZONE',
  'FSX_OPENZFS',
]);

/** Returns the storage class that a copy asks for; undefined for the standard one and for a tier of the server. */
export function copiedStorageClass(name: string | undefined): string | undefined {
  return name !== undefined && storageClasses.has(name) ? name : undefined;
}

/** Leaves out what no longer protects: a server refuses a retention that has ended. */
export function lockInForce(
  { mode, until, legalHold }: { readonly mode?: string; readonly until?: string; readonly legalHold?: boolean },
  now: Date,
): CopiedLock {
  return {
    ...(mode !== undefined &&
      until !== undefined &&
      Date.parse(until) > now.getTime() && { retention: { mode, until } }),
    ...(legalHold === true && { legalHold }),
  };
}

const metadataPrefix = 'x-amz-meta-';
const encryption = 'x-amz-server-side-encryption';
const lock = 'x-amz-object-lock';
const checksumPrefix = 'x-amz-checksum-';

/** Reads the attributes from the answer to a HEAD or a GET with `x-amz-checksum-mode: ENABLED`. `now` decides which locks are in force. */
export function attributesOf(answer: AnswerHeaders, now: Date): CopiedAttributes {
  const header = (name: string): string | undefined => {
    const value = answer[name];
    return typeof value === 'object' ? value.join(', ') : value;
  };
  const named = (prefix: string) =>
    Object.keys(answer).flatMap((name) => {
      const value = name.startsWith(prefix) ? header(name) : undefined;
      return value === undefined ? [] : [[name.slice(prefix.length), value] as const];
    });
  const websiteRedirect = header('x-amz-website-redirect-location');
  const storageClass = copiedStorageClass(header('x-amz-storage-class'));
  const encrypted = encryptionOf(header);
  const [checksum] = named(checksumPrefix).filter(([name]) => name !== 'type' && name !== 'algorithm');
  return {
    content: Object.fromEntries(
      contentHeaderNames.flatMap((name) => {
        const value = header(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    metadata: Object.fromEntries(named(metadataPrefix)),
    ...(websiteRedirect !== undefined && { websiteRedirect }),
    ...(storageClass !== undefined && { storageClass }),
    ...(encrypted && { encryption: encrypted }),
    ...(checksum && {
      checksum: {
        algorithm: checksum[0].toUpperCase(),
        type: header(`${checksumPrefix}type`) ?? (checksum[1].includes('-') ? 'COMPOSITE' : 'FULL_OBJECT'),
        value: checksum[1],
      },
    }),
    lock: lockInForce(
      {
        mode: header(`${lock}-mode`),
        until: header(`${lock}-retain-until-date`),
        legalHold: header(`${lock}-legal-hold`)?.toUpperCase() === 'ON',
      },
      now,
    ),
    tags: Number(header('x-amz-tagging-count') ?? 0),
    hidden: { metadata: Number(header('x-amz-missing-meta') ?? 0), rights: hiddenOf(header(hiddenHeader)) },
  };
}

function encryptionOf(header: (name: string) => string | undefined): CopiedEncryption | undefined {
  if (header(`${encryption}-customer-algorithm`) !== undefined) return { kind: 'customer' };
  const scheme = header(encryption);
  if (scheme === undefined) return undefined;
  const keyId = header(`${encryption}-aws-kms-key-id`);
  const context = header(`${encryption}-context`);
  return {
    kind: 'server',
    scheme,
    ...(keyId !== undefined && { keyId }),
    ...(context !== undefined && { context }),
    bucketKey: header(`${encryption}-bucket-key-enabled`) === 'true',
  };
}

function hiddenOf(text: string | undefined): readonly HiddenRight[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  return names.filter((name): name is HiddenRight => Object.hasOwn(rightsOfHidden, name));
}
