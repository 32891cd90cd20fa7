import { S3Error } from './s3-error.ts';
import { child, childrenOf, requiredText, textOf } from './xml-fields.ts';
import { malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** `bucketKey` where the document says it: kept and told again, so that tools which compare find what they wrote. */
export type BucketEncryptionRule =
  | { readonly scheme: 'SSE-S3'; readonly bucketKey?: boolean }
  | { readonly scheme: 'SSE-KMS'; readonly keyName?: string; readonly bucketKey?: boolean };

/** How AWS names a key of its service; here the name alone counts. */
const keyArn = /^arn:aws:kms:[^:]*:[^:]*:(?:key\/)?/;

/**
 * Reads a ServerSideEncryptionConfiguration with its single rule.
 *
 * @throws S3Error MalformedXML, InvalidEncryptionAlgorithmError, InvalidArgument (a key beside AES256)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html
 */
export function parseBucketEncryption(body: string | Buffer): BucketEncryptionRule {
  const root = readXml(body, { maxBytes: 65_536, root: 'ServerSideEncryptionConfiguration' });
  const [rule, ...more] = childrenOf(root, 'Rule');
  if (rule === undefined || more.length > 0) throw malformed('there must be exactly one "Rule"');
  const defaults = child(rule, 'ApplyServerSideEncryptionByDefault');
  if (defaults === undefined) throw malformed('"Rule" lacks "ApplyServerSideEncryptionByDefault"');
  const algorithm = requiredText(defaults, 'SSEAlgorithm').trim();
  const keyName = textOf(defaults, 'KMSMasterKeyID')?.trim().replace(keyArn, '') ?? '';
  const bucketKey = bucketKeyOf(rule);
  if (algorithm === 'aws:kms') return { scheme: 'SSE-KMS', ...(keyName === '' ? {} : { keyName }), ...bucketKey };
  if (algorithm !== 'AES256') {
    throw new S3Error(
      'InvalidEncryptionAlgorithmError',
      `The encryption algorithm "${algorithm.slice(0, 64)}" is not supported; "AES256" and "aws:kms" are.`,
    );
  }
  if (keyName !== '') {
    throw new S3Error('InvalidArgument', 'A KMSMasterKeyID is only for the algorithm aws:kms, not for AES256.');
  }
  return { scheme: 'SSE-S3', ...bucketKey };
}

function bucketKeyOf(rule: XmlNode): { readonly bucketKey?: boolean } {
  const text = textOf(rule, 'BucketKeyEnabled')?.trim();
  if (text === undefined || text === '') return {};
  if (text !== 'true' && text !== 'false') throw malformed('"BucketKeyEnabled" must be true or false');
  return { bucketKey: text === 'true' };
}

/** The document that GetBucketEncryption answers and PutBucketEncryption sends. */
export function writeBucketEncryption(rule: BucketEncryptionRule): string {
  const keyName = rule.scheme === 'SSE-KMS' ? rule.keyName : undefined;
  return xmlDocument('ServerSideEncryptionConfiguration', [
    element('Rule', [
      element('ApplyServerSideEncryptionByDefault', [
        element('SSEAlgorithm', rule.scheme === 'SSE-S3' ? 'AES256' : 'aws:kms'),
        keyName === undefined ? undefined : element('KMSMasterKeyID', keyName),
      ]),
      rule.bucketKey === undefined ? undefined : element('BucketKeyEnabled', String(rule.bucketKey)),
    ]),
  ]);
}
