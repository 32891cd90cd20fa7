import { beforeEach, describe, expect, it } from 'vitest';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

let calls: TestCalls;
let uploadId: string;
beforeEach(async () => {
  calls = await testCalls();
  const headers = {
    'x-amz-checksum-algorithm': 'CRC32',
    'x-amz-checksum-type': 'FULL_OBJECT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  };
  const { body } = await calls.call('POST', '/bucket/key?uploads', { headers });
  uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
  for (const number of [2, 5, 7]) {
    await calls.call('PUT', `/bucket/key?uploadId=${uploadId}&partNumber=${number}`, { body: 'part' });
  }
});

const described = '<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>';

describe('ListMultipartUploads', () => {
  it('shows storage class and checksum of an upload', async () => {
    const { body } = await calls.call('GET', '/bucket?uploads');
    expect(body).toContain('<StorageClass>REDUCED_REDUNDANCY</StorageClass>');
    expect(body).toContain(described);
  });
});

const list = (more = '') => calls.call('GET', `/bucket/key?uploadId=${uploadId}${more}`);

describe('ListParts', () => {
  it('shows storage class and checksum of the upload', async () => {
    const { body } = await list();
    expect(body).toContain(`<StorageClass>REDUCED_REDUNDANCY</StorageClass>${described}`);
  });

  it.each([
    ['', '7', false],
    ['&max-parts=2', '5', true],
    ['&max-parts=2&part-number-marker=5', '7', false],
    ['&part-number-marker=7', '7', false],
    ['&part-number-marker=3&max-parts=0', '3', false],
  ])('says where the page ends, as S3 does on each page: %s', async (more, next, truncated) => {
    const { body } = await list(more);
    expect(body).toContain(`<NextPartNumberMarker>${next}</NextPartNumberMarker>`);
    expect(body).toContain(`<IsTruncated>${truncated}</IsTruncated>`);
  });
});

describe.each(['-1', 'two', '2147483648', '1.5'])('a page of %s', (value) => {
  it.each([
    ['max-parts', () => `/bucket/key?uploadId=${uploadId}&max-parts=${value}`],
    ['max-uploads', () => `/bucket?uploads&max-uploads=${value}`],
    ['max-keys', () => `/bucket?list-type=2&max-keys=${value}`],
  ])('is refused as %s', async (name, target) => {
    expect((await calls.call('GET', target())).refusal).toContain(
      `<Code>InvalidArgument</Code><Message>Argument ${name} must be an integer between 0 and 2147483647</Message>` +
        `<ArgumentName>${name}</ArgumentName><ArgumentValue>${value}</ArgumentValue>`,
    );
  });
});
