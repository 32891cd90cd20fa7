import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomBody } from '../../../test/support/objects/test-layer.ts';
import { type Reply, testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

type Headers = Readonly<Record<string, string>>;

const MiB = 1024 * 1024;
const chunks = [randomBody(5 * MiB), randomBody(5 * MiB + 1), Buffer.from('last')];
const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');
const customerKey = Buffer.alloc(32, 3);
const sseC = {
  'x-amz-server-side-encryption-customer-algorithm': 'AES256',
  'x-amz-server-side-encryption-customer-key': customerKey.toString('base64'),
  'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(customerKey).digest('base64'),
};

let calls: TestCalls;
const call = (method: string, target: string, headers: Headers = {}) => calls.call(method, target, { headers });

/** Uploads the pieces under the numbers 1, 5 and 9: the object has the parts 1, 2 and 3. */
async function upload(key: string, created: Headers, each: Headers = {}): Promise<void> {
  const { body } = await calls.call('POST', `/bucket/${key}?uploads`, { headers: created });
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
  const parts: string[] = [];
  for (const [index, chunk] of chunks.entries()) {
    const number = [1, 5, 9][index];
    const target = `/bucket/${key}?uploadId=${uploadId}&partNumber=${number}`;
    const hasSums = 'x-amz-checksum-algorithm' in created;
    const sums: Headers = hasSums ? { 'x-amz-checksum-sha256': sha256(chunk) } : {};
    const { headers } = await calls.call('PUT', target, { body: chunk, headers: { ...each, ...sums } });
    const checksum = hasSums ? `<ChecksumSHA256>${sha256(chunk)}</ChecksumSHA256>` : '';
    parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${headers['etag'] ?? ''}</ETag>${checksum}</Part>`);
  }
  const document = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const reply = await calls.call('POST', `/bucket/${key}?uploadId=${uploadId}`, { body: document, headers: each });
  expect(reply.code).toBeUndefined();
}

beforeAll(async () => {
  calls = await testCalls();
  await upload('plain', {});
  await upload('sums', { 'x-amz-checksum-algorithm': 'SHA256' });
  await upload('secret', { 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-server-side-encryption': 'AES256' });
  await upload('customer', { 'x-amz-checksum-algorithm': 'SHA256', ...sseC }, sseC);
  await calls.call('PUT', '/bucket/single', { body: 'single', headers: { 'x-amz-checksum-sha256': sha256(single) } });
  await calls.call('PUT', '/bucket/empty', { body: '' });
});

const single = Buffer.from('single');
const shown = ({ status, headers }: Reply) => [
  status,
  headers['content-range'],
  headers['x-amz-mp-parts-count'],
  headers['x-amz-checksum-sha256'],
];

describe('partNumber', () => {
  const mode = { 'x-amz-checksum-mode': 'ENABLED' };
  const ranges = [`0-${5 * MiB - 1}`, `${5 * MiB}-${10 * MiB}`, `${10 * MiB + 1}-${size - 1}`];
  const reads = ['sums', 'secret', 'customer'].flatMap((key) => [0, 1, 2].map((index) => [key, index] as const));

  it.each(reads)('reads a part of %s with its checksum: %i', async (key, index) => {
    const headers = { ...mode, ...(key === 'customer' ? sseC : {}) };
    const chunk = chunks[index] ?? Buffer.of();
    const target = `/bucket/${key}?partNumber=${index + 1}`;
    const whole = await call('HEAD', `/bucket/${key}`, headers);
    for (const method of ['GET', 'HEAD']) {
      const reply = await call(method, target, headers);
      expect(shown(reply)).toEqual([206, `bytes ${ranges[index]}/${size}`, '3', sha256(chunk)]);
      expect(reply.headers['etag']).toBe(whole.headers['etag']);
      if (method === 'HEAD') expect(reply.headers['content-length']).toBe(String(chunk.length));
      else expect(reply.body === chunk.toString()).toBe(true);
    }
  });

  it('gives no checksum without the mode, and none where the upload had none', async () => {
    expect(shown(await call('HEAD', '/bucket/sums?partNumber=3'))).toEqual([
      206,
      `bytes ${ranges[2]}/${size}`,
      '3',
      undefined,
    ]);
    const { headers } = await call('HEAD', '/bucket/plain?partNumber=3', mode);
    expect(headers['x-amz-checksum-sha256']).toBeUndefined();
  });

  it('takes an object of a single upload for its part 1', async () => {
    expect(shown(await call('GET', '/bucket/single?partNumber=1', mode))).toEqual([
      206,
      'bytes 0-5/6',
      undefined,
      sha256(single),
    ]);
    expect((await call('GET', '/bucket/empty?partNumber=1')).status).toBe(200);
  });

  it('refuses an object under a key of the client without that key', async () => {
    expect((await call('GET', '/bucket/customer?partNumber=1')).status).toBe(400);
  });

  it('gives the checksum for a range that has all bytes', async () => {
    const all = await call('GET', '/bucket/single', { ...mode, range: 'bytes=0-' });
    expect(shown(all)).toEqual([206, 'bytes 0-5/6', undefined, sha256(single)]);
    const some = await call('GET', '/bucket/single', { ...mode, range: 'bytes=0-1' });
    expect(some.headers['x-amz-checksum-sha256']).toBeUndefined();
  });
});

const part = (index: number) =>
  `<Part><PartNumber>${index + 1}</PartNumber><Size>${chunks[index]?.length}</Size>` +
  `<ChecksumSHA256>${sha256(chunks[index] ?? Buffer.of())}</ChecksumSHA256></Part>`;

describe('GetObjectAttributes', () => {
  const all = { 'x-amz-object-attributes': 'ObjectSize,ETag,Checksum,StorageClass,ObjectParts' };
  const parts = { 'x-amz-object-attributes': 'ObjectParts' };

  it.each(['sums', 'secret', 'customer'])('lists the parts of %s with their checksums', async (key) => {
    const { body } = await call('GET', `/bucket/${key}?attributes`, { ...all, ...(key === 'customer' ? sseC : {}) });
    expect(body.replaceAll(/\s*\n\s*/g, '')).toContain(
      '<ObjectParts><PartsCount>3</PartsCount><PartNumberMarker>0</PartNumberMarker>' +
        '<NextPartNumberMarker>3</NextPartNumberMarker><MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>' +
        `${part(0)}${part(1)}${part(2)}</ObjectParts><StorageClass>STANDARD</StorageClass><ObjectSize>${size}</ObjectSize>`,
    );
    expect(body.replaceAll(/\s*\n\s*/g, '')).toMatch(
      /<Checksum><ChecksumSHA256>[\w+/]{43}=<\/ChecksumSHA256><ChecksumType>COMPOSITE<\/ChecksumType>/,
    );
  });

  it.each([
    ['1', undefined, [0], '0', '1', 'true'],
    ['2', '1', [1, 2], '1', '3', 'false'],
    ['1', '3', [], '3', '3', 'false'],
    ['0', '1', [], '1', '1', 'false'],
    ['5000', undefined, [0, 1, 2], '0', '3', 'false'],
  ])('pages: max %s after %s', async (max, marker, indexes, after, next, truncated) => {
    const headers = { ...parts, 'x-amz-max-parts': max, ...(marker && { 'x-amz-part-number-marker': marker }) };
    const { body } = await call('GET', '/bucket/sums?attributes', headers);
    expect(/<ObjectParts>.*<\/ObjectParts>/s.exec(body)?.[0]).toBe(
      `<ObjectParts><PartsCount>3</PartsCount><PartNumberMarker>${after}</PartNumberMarker>` +
        `<NextPartNumberMarker>${next}</NextPartNumberMarker><MaxParts>${Math.min(1_000, Number(max))}</MaxParts>` +
        `<IsTruncated>${truncated}</IsTruncated>${indexes.map(part).join('')}</ObjectParts>`,
    );
  });

  it('shows no parts of an object of a single upload', async () => {
    expect((await call('GET', '/bucket/single?attributes', parts)).body).not.toContain('ObjectParts>');
  });

  it('lets a comma at the end through', async () => {
    const { body } = await call('GET', '/bucket/single?attributes', { 'x-amz-object-attributes': 'ObjectSize,' });
    expect(body).toContain('<ObjectSize>6</ObjectSize>');
  });
});

const between = (name: string) => `Argument ${name} must be an integer between 0 and 2147483647`;
const argument = (name: string, value: string) =>
  `<ArgumentName>${name}</ArgumentName>${value === '' ? '<ArgumentValue/>' : `<ArgumentValue>${value}</ArgumentValue>`}`;
const partRange = 'Part number must be an integer between 1 and 10000, inclusive';
const both = 'Cannot specify both Range header and partNumber query parameter';
const noPart = 'The requested partnumber is not satisfiable';
const counts = (asked: number, count: number) =>
  `<PartNumberRequested>${asked}</PartNumberRequested><ActualPartCount>${count}</ActualPartCount>`;
const badMode = 'Value for x-amz-checksum-mode header is invalid.';
const badName = 'Invalid attribute name specified.';
const noNames =
  'The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty';
const names = 'x-amz-object-attributes';

/** Requests that S3 refuses, with what it answers. */
describe.each<
  [method: string, target: string, headers: Headers, status: number, code: string, message: string, details: string]
>([
  ['GET', 'single?partNumber=', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '')],
  ['GET', 'single?partNumber=0', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '0')],
  ['GET', 'single?partNumber=-1', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '-1')],
  ['GET', 'single?partNumber=1.0', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '1.0')],
  ['GET', 'single?partNumber=%201', {}, 400, 'InvalidArgument', partRange, argument('partNumber', ' 1')],
  ['GET', 'single?partNumber=one', {}, 400, 'InvalidArgument', partRange, argument('partNumber', 'one')],
  ['GET', 'single?partNumber=10001', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '10001')],
  ['GET', 'absent?partNumber=one', {}, 400, 'InvalidArgument', partRange, argument('partNumber', 'one')],
  ['HEAD', 'single?partNumber=0', {}, 400, 'InvalidArgument', partRange, argument('partNumber', '0')],
  ['GET', 'single?partNumber=1', { range: 'bytes=0-1' }, 400, 'InvalidRequest', both, ''],
  ['GET', 'single?partNumber=1', { range: '' }, 400, 'InvalidRequest', both, ''],
  ['GET', 'single?partNumber=one', { range: 'bytes=0-1' }, 400, 'InvalidRequest', both, ''],
  ['HEAD', 'absent?partNumber=1', { range: 'bytes=0-1' }, 400, 'InvalidRequest', both, ''],
  ['GET', 'single?partNumber=2', {}, 416, 'InvalidPartNumber', noPart, counts(2, 1)],
  ['GET', 'single?partNumber=02', {}, 416, 'InvalidPartNumber', noPart, counts(2, 1)],
  ['GET', 'plain?partNumber=4', {}, 416, 'InvalidPartNumber', noPart, counts(4, 3)],
  ['GET', 'plain?partNumber=5', {}, 416, 'InvalidPartNumber', noPart, counts(5, 3)],
  ['HEAD', 'plain?partNumber=10000', {}, 416, 'InvalidPartNumber', noPart, counts(10_000, 3)],
  ['GET', 'absent?partNumber=2', {}, 404, 'NoSuchKey', 'The specified key does not exist.', ''],
  ['GET', 'single', { 'x-amz-checksum-mode': 'garbage' }, 400, 'InvalidRequest', badMode, ''],
  ['GET', 'single', { 'x-amz-checksum-mode': '' }, 400, 'InvalidRequest', badMode, ''],
  ['HEAD', 'absent', { 'x-amz-checksum-mode': 'DISABLED' }, 400, 'InvalidRequest', badMode, ''],
  ['GET', 'single?attributes', {}, 400, 'InvalidRequest', noNames, ''],
  ['GET', 'single?attributes', { [names]: ',' }, 400, 'InvalidRequest', noNames, ''],
  ['GET', 'single?attributes', { [names]: '' }, 400, 'InvalidArgument', badName, argument(names, '')],
  ['GET', 'single?attributes', { [names]: ',ETag' }, 400, 'InvalidArgument', badName, argument(names, '')],
  ['GET', 'single?attributes', { [names]: 'ETag,,ObjectSize' }, 400, 'InvalidArgument', badName, argument(names, '')],
  ['GET', 'single?attributes', { [names]: 'etag' }, 400, 'InvalidArgument', badName, argument(names, 'etag')],
  ['GET', 'absent?attributes', { [names]: 'x,ETag' }, 400, 'InvalidArgument', badName, argument(names, 'x')],
  ['GET', 'absent?attributes', { [names]: 'ETag' }, 404, 'NoSuchKey', 'The specified key does not exist.', ''],
  ...['-1', 'x', '2147483648', '1.5', ''].flatMap((value) =>
    ['x-amz-max-parts', 'x-amz-part-number-marker'].map(
      (name): [string, string, Headers, number, string, string, string] => [
        'GET',
        'sums?attributes',
        { [names]: 'ObjectParts', [name]: value },
        400,
        'InvalidArgument',
        between(name),
        argument(name, value),
      ],
    ),
  ),
])('%s %s with %o', (method, target, headers, status, code, message, details) => {
  it(`is refused with ${status} ${code}`, async () => {
    const reply = await call(method, `/bucket/${target}`, headers);
    expect([reply.status, reply.code]).toEqual([status, code]);
    expect(reply.refusal).toContain(`<Code>${code}</Code><Message>${message}</Message>${details}`);
  });
});
