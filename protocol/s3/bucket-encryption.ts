import { S3Error } from './s3-error.ts';
import { child, childrenOf, requiredText, textOf } from './xml-fields.ts';
import { malformed, readXml } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

export type BucketEncryptionRule =
  { readonly scheme: 'SSE-S3' } | { readonly scheme: 'SSE-KMS'; readonly keyName?: string };

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
  if (algorithm === 'aws:kms') return { scheme: 'SSE-KMS', ...(keyName === '' ? {} : { keyName }) };
  if (algorithm !== 'AES256') {
    throw new S3Error(
      'InvalidEncryptionAlgorithmError',
      `The encryption algorithm "${algorithm.slice(0, 64)}" is not supported; "AES256" and "aws:kms" are.`,
    );
  }
  if (keyName !== '') {
    throw new S3Error('InvalidArgument', 'A KMSMasterKeyID is only for the algorithm aws:kms, not for AES256.');
  }
  return { scheme: 'SSE-S3' };
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
    ]),
  ]);
}
