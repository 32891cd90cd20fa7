import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseBucketEncryption,
  writeBucketEncryption,
  type BucketEncryptionRule,
  parseCreateBucketConfiguration,
} from '../bucket-encryption.ts';
import { parseCompleteMultipartUpload, writeCompleteMultipartUpload } from './complete-multipart-request.ts';
import { parseDeleteObjects, writeDeleteObjects } from './delete-objects-request.ts';
import { readErrorDocument, writeErrorDocument } from '../responses.ts';
import { S3Error } from '../s3-error.ts';

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

function partsBody(...numbers: (number | string)[]): string {
  const parts = numbers.map((number) => `<Part><PartNumber>${number}</PartNumber><ETag>&quot;e&quot;</ETag></Part>`);
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

function encryptionBody(inner: string, beside = ''): string {
  const defaults = `<ApplyServerSideEncryptionByDefault>${inner}</ApplyServerSideEncryptionByDefault>`;
  return `<ServerSideEncryptionConfiguration><Rule>${defaults}${beside}</Rule></ServerSideEncryptionConfiguration>`;
}
describe('CreateBucketConfiguration', () => {
  it.each([
    ['', ''],
    ['<CreateBucketConfiguration/>', ''],
    [
      '<CreateBucketConfiguration><LocationConstraint> eu-west-1 </LocationConstraint></CreateBucketConfiguration>',
      'eu-west-1',
    ],
  ])('%s asks for "%s"', (body, location) => {
    expect(parseCreateBucketConfiguration(body)).toEqual({ location });
  });

  it('refuses another document', () => {
    expect(codeOf(() => parseCreateBucketConfiguration('<Delete/>'))).toBe('MalformedXML');
  });
});

describe('Delete', () => {
  it('keeps keys as they are, spaces included', () => {
    const body = '<Delete><Quiet>true</Quiet><Object><Key> a&amp;b </Key><VersionId>v</VersionId></Object></Delete>';
    expect(parseDeleteObjects(body)).toEqual({ quiet: true, objects: [{ key: ' a&b ', versionId: 'v' }] });
  });

  it('reads what it writes', () => {
    const objects = fc.array(fc.record({ key: fc.string({ minLength: 1 }) }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.boolean(), objects, (quiet, objects) => {
        expect(parseDeleteObjects(writeDeleteObjects({ quiet, objects }))).toEqual({ quiet, objects });
      }),
    );
  });

  it.each([
    ['no objects', '<Delete/>'],
    ['an object without key', '<Delete><Object/></Delete>'],
    ['an object with two keys', '<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>'],
    ['1,001 objects', `<Delete>${'<Object><Key>a</Key></Object>'.repeat(1_001)}</Delete>`],
  ])('refuses %s', (_, body) => {
    expect(codeOf(() => parseDeleteObjects(body))).toBe('MalformedXML');
  });

  it('takes 1,000 objects', () => {
    expect(
      parseDeleteObjects(`<Delete>${'<Object><Key>a</Key></Object>'.repeat(1_000)}</Delete>`).objects,
    ).toHaveLength(1_000);
  });
});

describe('CompleteMultipartUpload', () => {
  it('reads numbers, ETags without quotes, and checksums', () => {
    const part = '<Part><ETag>"abc"</ETag><PartNumber>7</PartNumber><ChecksumSHA256>c2hh</ChecksumSHA256></Part>';
    expect(parseCompleteMultipartUpload(`<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`)).toEqual([
      { partNumber: 7, etag: 'abc', checksum: { algorithm: 'SHA256', value: 'c2hh' } },
    ]);
  });

  it('reads what it writes, gaps between the parts included', () => {
    const parts = [
      { partNumber: 1, etag: 'a' },
      { partNumber: 10_000, etag: 'b' },
    ];
    expect(parseCompleteMultipartUpload(writeCompleteMultipartUpload(parts))).toEqual(parts);
  });

  it.each<[string, string, string]>([
    ['no parts', partsBody(), 'MalformedXML'],
    ['a part number of 0', partsBody(0), 'InvalidArgument'],
    ['a part number below 0', partsBody(-1), 'InvalidArgument'],
    ['a part number of 10,001', partsBody(10_001), 'InvalidArgument'],
    ['a part number that is none', partsBody('1.5'), 'MalformedXML'],
    [
      'a part without ETag',
      '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>',
      'MalformedXML',
    ],
    [
      'a checksum that is not known',
      partsBody(1).replace('</Part>', '<ChecksumMD4>c2hh</ChecksumMD4></Part>'),
      'InvalidRequest',
    ],
    [
      'two checksums',
      partsBody(1).replace('</Part>', '<ChecksumSHA1>a</ChecksumSHA1><ChecksumCRC32>b</ChecksumCRC32></Part>'),
      'InvalidRequest',
    ],
    ['parts in the wrong order', partsBody(2, 1), 'InvalidPartOrder'],
    ['a part twice', partsBody(1, 1), 'InvalidPartOrder'],
  ])('refuses %s', (_, document, code) => {
    expect(codeOf(() => parseCompleteMultipartUpload(document))).toBe(code);
  });
});

describe('ServerSideEncryptionConfiguration', () => {
  const kms = '<SSEAlgorithm>aws:kms</SSEAlgorithm>';

  it.each<[string, BucketEncryptionRule]>([
    ['<SSEAlgorithm>AES256</SSEAlgorithm>', { scheme: 'SSE-S3' }],
    [kms, { scheme: 'SSE-KMS' }],
    [`${kms}<KMSMasterKeyID>my-key</KMSMasterKeyID>`, { scheme: 'SSE-KMS', keyName: 'my-key' }],
    [`${kms}<KMSMasterKeyID>arn:aws:kms:my-key</KMSMasterKeyID>`, { scheme: 'SSE-KMS', keyName: 'my-key' }],
    [`${kms}<KMSMasterKeyID>arn:aws:kms:us-east-1:1:key/k</KMSMasterKeyID>`, { scheme: 'SSE-KMS', keyName: 'k' }],
  ])('reads %s', (inner, rule) => {
    expect(parseBucketEncryption(encryptionBody(inner))).toEqual(rule);
  });

  it.each([true, false])('reads whether there is a bucket key: %s', (bucketKey) => {
    const body = encryptionBody(kms, `<BucketKeyEnabled>${bucketKey}</BucketKeyEnabled>`);
    expect(parseBucketEncryption(body)).toEqual({ scheme: 'SSE-KMS', bucketKey });
  });

  it.each<[string, BucketEncryptionRule['blocked']]>([
    ['<EncryptionType>SSE-C</EncryptionType>', ['SSE-C']],
    ['<EncryptionType>NONE</EncryptionType>', ['NONE']],
    ['', []],
  ])('reads what is blocked: %s', (inner, blocked) => {
    const types = `<BlockedEncryptionTypes>${inner}</BlockedEncryptionTypes>`;
    expect(parseBucketEncryption(encryptionBody(kms, types))).toEqual({ scheme: 'SSE-KMS', blocked });
  });

  it('reads a rule that blocks and sets no default', () => {
    const types = '<BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes>';
    const body = `<ServerSideEncryptionConfiguration><Rule>${types}</Rule></ServerSideEncryptionConfiguration>`;
    expect(parseBucketEncryption(body)).toEqual({ scheme: 'none', blocked: ['SSE-C'] });
  });

  it.each<BucketEncryptionRule>([
    { scheme: 'none', blocked: ['SSE-C'] },
    { scheme: 'SSE-KMS', keyName: 'k', bucketKey: true, blocked: ['NONE'] },
    { scheme: 'SSE-S3' },
    { scheme: 'SSE-S3', bucketKey: false },
    { scheme: 'SSE-KMS' },
    { scheme: 'SSE-KMS', bucketKey: true },
    { scheme: 'SSE-KMS', keyName: 'a<b' },
  ])('reads what it writes, %j', (rule) => {
    expect(parseBucketEncryption(writeBucketEncryption(rule))).toEqual(rule);
  });

  it.each([
    ['no rule', '<ServerSideEncryptionConfiguration/>', 'MalformedXML'],
    [
      'two rules',
      '<ServerSideEncryptionConfiguration><Rule/><Rule/></ServerSideEncryptionConfiguration>',
      'MalformedXML',
    ],
    ['no algorithm', encryptionBody(''), 'MalformedXML'],
    ['a bucket key that is neither', encryptionBody(kms, '<BucketKeyEnabled>yes</BucketKeyEnabled>'), 'MalformedXML'],
    [
      'to block what cannot be blocked',
      encryptionBody(kms, '<BlockedEncryptionTypes><EncryptionType>SSE-S3</EncryptionType></BlockedEncryptionTypes>'),
      'MalformedXML',
    ],
    [
      'a rule of nothing',
      '<ServerSideEncryptionConfiguration><Rule/></ServerSideEncryptionConfiguration>',
      'MalformedXML',
    ],
    ['another algorithm', encryptionBody('<SSEAlgorithm>ROT13</SSEAlgorithm>'), 'InvalidEncryptionAlgorithmError'],
    [
      'a key beside AES256',
      encryptionBody('<SSEAlgorithm>AES256</SSEAlgorithm><KMSMasterKeyID>k</KMSMasterKeyID>'),
      'InvalidArgument',
    ],
  ])('refuses %s', (_, document, code) => {
    expect(codeOf(() => parseBucketEncryption(document))).toBe(code);
  });
});

describe('error documents', () => {
  it('name code, message, details, resource and request', () => {
    const error = new S3Error('NoSuchKey', undefined, { details: { Key: 'a<b' } });
    const document = writeErrorDocument(error, {}, { resource: '/b/a<b', requestId: 'R1', hostId: 'H' });
    expect(readErrorDocument(document)?.fields).toEqual({
      Code: 'NoSuchKey',
      Message: 'The specified key does not exist.',
      Key: 'a<b',
      Resource: '/b/a<b',
      RequestId: 'R1',
      HostId: 'H',
    });
  });

  it('are read as STS writes them', () => {
    const document =
      '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>' +
      '<Code>AccessDenied</Code><Message>no</Message></Error><RequestId>R1</RequestId></ErrorResponse>';
    expect(readErrorDocument(document)).toMatchObject({ code: 'AccessDenied', message: 'no' });
    expect(readErrorDocument('<ErrorResponse><RequestId>R1</RequestId></ErrorResponse>')).toBeUndefined();
  });

  it('are told from the pages of proxies', () => {
    expect(readErrorDocument('<html><body>Bad gateway</body></html>')).toBeUndefined();
  });
});
