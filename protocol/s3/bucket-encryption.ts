import { S3Error } from './s3-error.ts';
import {
  checkChildren,
  child,
  childrenOf,
  requiredText,
  textOf,
  malformed,
  readXml,
  type XmlNode,
} from './xml-reader.ts';
import { maxTaggingDocument, readTagSet, type Tags } from './tagging.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** A bucket may block writes of objects with a key of the client. `NONE` says that the bucket blocks nothing. */
type BlockedEncryptionType = 'SSE-C' | 'NONE';

/** `bucketKey` and `blocked` are set if the document has them. The store returns them unchanged, for tools that compare. */
export type BucketEncryptionRule = {
  readonly bucketKey?: boolean;
  readonly blocked?: readonly BlockedEncryptionType[];
} & (
  | { readonly scheme: 'SSE-S3' }
  | { readonly scheme: 'SSE-KMS'; readonly keyName?: string }
  /** The rule sets no default encryption. It only blocks. */
  | { readonly scheme: 'none'; readonly blocked: readonly BlockedEncryptionType[] }
);

/** The ARN of a key at AWS, of which only the name counts here, and the short one of servers of the S3 protocol. */
const keyArn = /^arn:aws(?:-[a-z-]+)?:kms:(?:[^:]*:[^:]*:(?:key\/)?)?/;

/** Returns the name of a key that a document or a header names by its name or by an ARN; '' for none. */
export function keyNameOf(text: string): string {
  return text.trim().replace(keyArn, '');
}

/**
 * Reads a ServerSideEncryptionConfiguration with its single rule.
 *
 * @throws S3Error MalformedXML (also an encryption type that cannot be blocked), InvalidEncryptionAlgorithmError, InvalidArgument (a key
 * with AES256)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html
 */
export function parseBucketEncryption(body: string | Buffer): BucketEncryptionRule {
  const root = readXml(body, { maxBytes: 65_536, root: 'ServerSideEncryptionConfiguration' });
  checkChildren(root, [], ['Rule']);
  const [rule, ...others] = childrenOf(root, 'Rule');
  if (rule === undefined || others.length > 0) throw malformed('there must be exactly one "Rule"');
  checkChildren(rule, ['ApplyServerSideEncryptionByDefault', 'BlockedEncryptionTypes', 'BucketKeyEnabled']);
  const defaults = child(rule, 'ApplyServerSideEncryptionByDefault');
  const blocked = blockedOf(rule);
  const more = { ...bucketKeyOf(rule), ...(blocked && { blocked }) };
  if (defaults === undefined) {
    if (blocked === undefined) throw malformed('"Rule" lacks "ApplyServerSideEncryptionByDefault"');
    return { ...more, scheme: 'none', blocked };
  }
  checkChildren(defaults, ['SSEAlgorithm', 'KMSMasterKeyID']);
  const algorithm = requiredText(defaults, 'SSEAlgorithm').trim();
  const keyName = keyNameOf(textOf(defaults, 'KMSMasterKeyID') ?? '');
  if (algorithm === 'aws:kms') return { scheme: 'SSE-KMS', ...(keyName === '' ? {} : { keyName }), ...more };
  if (algorithm !== 'AES256') {
    throw new S3Error(
      'InvalidEncryptionAlgorithmError',
      `The encryption algorithm "${algorithm.slice(0, 64)}" is not supported; "AES256" and "aws:kms" are.`,
    );
  }
  if (keyName !== '') {
    throw new S3Error('InvalidArgument', 'A KMSMasterKeyID is only for the algorithm aws:kms, not for AES256.');
  }
  return { scheme: 'SSE-S3', ...more };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_BlockedEncryptionTypes.html */
function blockedOf(rule: XmlNode): readonly BlockedEncryptionType[] | undefined {
  const types = child(rule, 'BlockedEncryptionTypes');
  if (types === undefined) return undefined;
  checkChildren(types, [], ['EncryptionType']);
  return childrenOf(types, 'EncryptionType').map(({ text }) => {
    const type = text.trim();
    if (type === 'SSE-C' || type === 'NONE') return type;
    throw malformed(`"${type.slice(0, 64)}" cannot be blocked: "EncryptionType" is SSE-C or NONE`);
  });
}

function bucketKeyOf(rule: XmlNode): { readonly bucketKey?: boolean } {
  const text = textOf(rule, 'BucketKeyEnabled')?.trim();
  if (text === undefined || text === '') return {};
  if (text !== 'true' && text !== 'false') throw malformed('"BucketKeyEnabled" must be true or false');
  return { bucketKey: text === 'true' };
}

/** Writes the document that GetBucketEncryption answers and PutBucketEncryption sends. */
export function writeBucketEncryption(rule: BucketEncryptionRule): string {
  const keyName = rule.scheme === 'SSE-KMS' ? rule.keyName : undefined;
  return xmlDocument('ServerSideEncryptionConfiguration', [
    element('Rule', [
      rule.scheme === 'none'
        ? undefined
        : element('ApplyServerSideEncryptionByDefault', [
            element('SSEAlgorithm', rule.scheme === 'SSE-S3' ? 'AES256' : 'aws:kms'),
            keyName === undefined ? undefined : element('KMSMasterKeyID', keyName),
          ]),
      rule.blocked &&
        element(
          'BlockedEncryptionTypes',
          rule.blocked.map((type) => element('EncryptionType', type)),
        ),
      rule.bucketKey === undefined ? undefined : element('BucketKeyEnabled', String(rule.bucketKey)),
    ]),
  ]);
}

/**
 * Reads the location and the tags from the body of CreateBucket. The location is '' if the body is empty or names none.
 *
 * @throws S3Error MalformedXML, InvalidTag, BadRequest for too many tags, NotImplemented for every other element
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
 */
export function parseCreateBucketConfiguration(body: string | Buffer): {
  readonly location: string;
  readonly tags?: Tags;
} {
  if (body.length === 0) return { location: '' };
  const root = readXml(body, { maxBytes: maxTaggingDocument, root: 'CreateBucketConfiguration' });
  const other = root.children.find(({ name }) => name !== 'LocationConstraint' && name !== 'Tags');
  if (other !== undefined) {
    throw new S3Error(
      'NotImplemented',
      `"${other.name.slice(0, 100)}" of CreateBucketConfiguration is not implemented.`,
    );
  }
  const location = textOf(root, 'LocationConstraint')?.trim() ?? '';
  const set = child(root, 'Tags');
  const tags = set === undefined ? {} : readTagSet(set);
  return Object.keys(tags).length === 0 ? { location } : { location, tags };
}
