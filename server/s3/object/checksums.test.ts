import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { checksumAlgorithms, checksumSizes } from '../../../protocol/s3/checksum-algorithms.ts';
import { hasherOf } from '../../../platform/checksums/hashers.ts';
import { put, randomBody } from '../../../test/support/objects/test-layer.ts';
import { type CallOptions, testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

type Headers = Readonly<Record<string, string>>;
type Algorithm = (typeof checksumAlgorithms)[number];

const content = Buffer.from('a short secret');
const customerKey = Buffer.alloc(32, 5);
const encryptions: Readonly<Record<string, Headers>> = {
  none: {},
  'SSE-S3': { 'x-amz-server-side-encryption': 'AES256' },
  'SSE-KMS': { 'x-amz-server-side-encryption': 'aws:kms' },
  'SSE-C': {
    'x-amz-server-side-encryption-customer-algorithm': 'AES256',
    'x-amz-server-side-encryption-customer-key': customerKey.toString('base64'),
    'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(customerKey).digest('base64'),
  },
};

function digestOf(algorithm: Algorithm, ...bytes: Buffer[]): Buffer {
  const hasher = hasherOf(algorithm);
  for (const each of bytes) hasher.update(each);
  return hasher.digest();
}

const nameOf = (algorithm: Algorithm) => `x-amz-checksum-${algorithm.toLowerCase()}`;
/** What a request reads an object of this encryption with. */
const keyOf = (encryption: string) => (encryption === 'SSE-C' ? encryptions['SSE-C'] : {});

let calls: TestCalls;
beforeEach(async () => {
  calls = await testCalls();
});

async function stored(): Promise<Buffer> {
  const values: Buffer[] = [];
  for await (const item of calls.records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
    if (item.kind === 'entry') values.push(item.value);
  }
  return Buffer.concat(values);
}

const everyCase = checksumAlgorithms.flatMap((algorithm) =>
  Object.keys(encryptions).map((encryption) => [algorithm, encryption] as const),
);

describe.each(everyCase)('%s with encryption %s', (algorithm, encryption) => {
  const digest = digestOf(algorithm, content);
  const name = nameOf(algorithm);
  const read = { ...keyOf(encryption), 'x-amz-checksum-mode': 'ENABLED' };

  it('is stored with an object and returned, and is not readable where the object is encrypted', async () => {
    const value = digest.toString('base64');
    const headers = { ...encryptions[encryption], [name]: value };
    const put = await calls.call('PUT', '/bucket/key', { body: content, headers });
    expect(put.headers).toMatchObject({ [name]: value, 'x-amz-checksum-type': 'FULL_OBJECT' });
    const { headers: seen } = await calls.call('GET', '/bucket/key', { headers: read });
    expect(seen).toMatchObject({ [name]: value, 'x-amz-checksum-type': 'FULL_OBJECT' });
    const records = await stored();
    const readable = [digest, value, digest.toString('hex')].some((form) => records.includes(form));
    expect(readable).toBe(encryption === 'none');
  });

  it('of parts is the checksum of the object, or is combined', async () => {
    const created = { ...encryptions[encryption], 'x-amz-checksum-algorithm': algorithm };
    const begun = await calls.call('POST', '/bucket/key?uploads', { headers: created });
    const type = algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE';
    expect(begun.headers).toMatchObject({ 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type });
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.body)?.[1] ?? '';
    const target = `/bucket/key?uploadId=${uploadId}`;
    const value = digest.toString('base64');
    const sent = { ...keyOf(encryption), ...(type === 'COMPOSITE' ? { [name]: value } : {}) };
    const part = await calls.call('PUT', `${target}&partNumber=1`, { body: content, headers: sent });
    expect(part.headers[name]).toBe(value);
    const of = `<ETag>${part.headers['etag'] ?? ''}</ETag><Checksum${algorithm}>${value}</Checksum${algorithm}>`;
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>${of}</Part></CompleteMultipartUpload>`;
    const whole = type === 'FULL_OBJECT' ? value : `${digestOf(algorithm, digest).toString('base64')}-1`;
    const done = await calls.call('POST', target, { body, headers: keyOf(encryption) ?? {} });
    expect(done.body).toContain(
      `<Checksum${algorithm}>${whole}</Checksum${algorithm}><ChecksumType>${type}</ChecksumType>`,
    );
    const { headers: seen } = await calls.call('HEAD', '/bucket/key', { headers: read });
    expect(seen).toMatchObject({ [name]: whole, 'x-amz-checksum-type': type });
    const { body: listed } = await calls.call('GET', '/bucket?list-type=2');
    expect(listed).toContain(`<ChecksumAlgorithm>${algorithm}</ChecksumAlgorithm><ChecksumType>${type}</ChecksumType>`);
  });
});

describe('a copy', () => {
  it.each(checksumAlgorithms)('has the checksum that it asks for: %s', async (algorithm) => {
    await calls.call('PUT', '/bucket/key', { body: content });
    const headers = { 'x-amz-copy-source': '/bucket/key', 'x-amz-checksum-algorithm': algorithm };
    const { body } = await calls.call('PUT', '/bucket/copy', { headers });
    expect(body).toContain(`<Checksum${algorithm}>${digestOf(algorithm, content).toString('base64')}<`);
  });
});

const value = (algorithm: Algorithm, of = content) => digestOf(algorithm, of).toString('base64');
const several = 'Expecting a single x-amz-checksum- header. Multiple checksums are not allowed.';
const unsupported =
  'Checksum algorithm provided is unsupported. Please try again with any of the valid types: ' +
  `[${checksumAlgorithms.join(', ')}]`;
const sdk = 'x-amz-sdk-checksum-algorithm';
const noValue = `${sdk} specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.`;
const wrongType = 'Value for x-amz-checksum-type header is invalid.';
const onlyWith = 'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.';
const cannot = (type: string, algorithm: string) =>
  `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`;
const chosen = (algorithm: string, type?: string): Headers => ({
  'x-amz-checksum-algorithm': algorithm,
  ...(type && { 'x-amz-checksum-type': type }),
});

/** Requests that S3 refuses, with what it answers. */
describe.each<[method: string, target: string, headers: Headers, status: number, code: string, message: string]>([
  ...checksumAlgorithms.flatMap((algorithm): [string, string, Headers, number, string, string][] => [
    [
      'PUT',
      'key',
      { [nameOf(algorithm)]: Buffer.alloc(checksumSizes[algorithm], 1).toString('base64') },
      400,
      'BadDigest',
      `The ${algorithm} you specified`,
    ],
    [
      'PUT',
      'key',
      { [nameOf(algorithm)]: Buffer.alloc(checksumSizes[algorithm] + 1).toString('base64') },
      400,
      'InvalidRequest',
      `Value for ${nameOf(algorithm)} header is invalid.`,
    ],
    ['PUT', 'key', { [nameOf(algorithm)]: '' }, 400, 'InvalidRequest', `Value for ${nameOf(algorithm)} header`],
  ]),
  ...['SHA1', 'SHA256', 'SHA512', 'MD5', 'XXHASH64', 'XXHASH3', 'XXHASH128'].map(
    (algorithm): [string, string, Headers, number, string, string] => [
      'POST',
      'key?uploads',
      chosen(algorithm, 'FULL_OBJECT'),
      400,
      'InvalidRequest',
      cannot('FULL_OBJECT', algorithm),
    ],
  ),
  ['PUT', 'key', { [nameOf('XXHASH3')]: value('XXHASH64') }, 400, 'BadDigest', 'The XXHASH3 you specified'],
  ['POST', 'key?uploads', chosen('CRC64NVME', 'COMPOSITE'), 400, 'InvalidRequest', cannot('COMPOSITE', 'CRC64NVME')],
  ['POST', 'key?uploads', chosen('CRC32', 'PARTS'), 400, 'InvalidRequest', wrongType],
  ['POST', 'key?uploads', { 'x-amz-checksum-type': 'COMPOSITE' }, 400, 'InvalidRequest', onlyWith],
  ['POST', 'key?uploads', { 'x-amz-checksum-type': 'FULL_OBJECT' }, 400, 'InvalidRequest', onlyWith],
  ['POST', 'key?uploads', chosen('MD4'), 400, 'InvalidRequest', unsupported],
  ['PUT', 'key', { [nameOf('SHA1')]: value('SHA1'), [nameOf('MD5')]: value('MD5') }, 400, 'InvalidRequest', several],
  ['PUT', 'key', { [sdk]: 'SHA512' }, 400, 'InvalidRequest', noValue],
  ['PUT', 'key', { [sdk]: 'MD5', [nameOf('SHA1')]: value('SHA1') }, 400, 'InvalidRequest', `Value for ${sdk} header`],
  ['PUT', 'key', { 'content-md5': 'short' }, 400, 'InvalidDigest', 'The Content-MD5 you specified'],
  ['PUT', 'key', { 'content-md5': value('MD5', Buffer.of()) }, 400, 'BadDigest', 'The Content-MD5 you'],
  ['PUT', 'key', { 'x-amz-checksum-type': 'COMPOSITE' }, 400, 'InvalidRequest', 'The header x-amz-checksum-type'],
])('%s %s with %o', (method, target, headers, status, code, message) => {
  it(`is refused with ${status} ${code}, and nothing is stored`, async () => {
    const reply = await calls.call(method, `/bucket/${target}`, { body: method === 'PUT' ? content : '', headers });
    expect([reply.status, reply.code]).toEqual([status, code]);
    expect(reply.refusal).toContain(`<Code>${code}</Code><Message>${message}`);
    expect((await calls.call('GET', '/bucket/key')).code).toBe('NoSuchKey');
    expect((await calls.call('GET', '/bucket?uploads')).body).not.toContain('<Upload>');
  });
});

describe('a part', () => {
  it('is refused with another checksum than that of its upload', async () => {
    const begun = await calls.call('POST', '/bucket/key?uploads', { headers: chosen('SHA256') });
    const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(begun.body)?.[1] ?? '';
    const headers = { [nameOf('CRC32')]: value('CRC32') };
    const target = `/bucket/key?uploadId=${uploadId}&partNumber=1`;
    expect((await calls.call('PUT', target, { body: content, headers })).refusal).toContain(
      '<Code>InvalidRequest</Code><Message>Checksum Type mismatch occurred, expected checksum Type: sha256, ' +
        'actual checksum Type: crc32</Message>',
    );
  });
});

describe.each(Object.keys(encryptions))('an object that comes without a checksum, with %s', (encryption) => {
  const headers = encryptions[encryption] ?? {};
  const crc = digestOf('CRC64NVME', content).toString('base64');
  const answered = { [nameOf('CRC64NVME')]: crc, 'x-amz-checksum-type': 'FULL_OBJECT' };

  it.each<Headers>([{}, { 'content-md5': value('MD5') }])('gets its CRC64NVME: %o', async (more) => {
    const put = await calls.call('PUT', '/bucket/key', { body: content, headers: { ...headers, ...more } });
    expect(put.headers).toMatchObject(answered);
    const asked = { headers: { ...keyOf(encryption), 'x-amz-checksum-mode': 'ENABLED' } };
    for (const method of ['GET', 'HEAD']) {
      expect((await calls.call(method, '/bucket/key', asked)).headers).toMatchObject(answered);
    }
    const attributes = { headers: { ...keyOf(encryption), 'x-amz-object-attributes': 'Checksum' } };
    expect((await calls.call('GET', '/bucket/key?attributes', attributes)).body).toContain(
      `<ChecksumCRC64NVME>${crc}</ChecksumCRC64NVME><ChecksumType>FULL_OBJECT</ChecksumType>`,
    );
  });
});

describe('a copy of an object without a checksum', () => {
  it('gets the CRC64NVME', async () => {
    await calls.layer.putObject(put('bucket', 'old', content));
    const headers = { 'x-amz-copy-source': '/bucket/old' };
    expect((await calls.call('PUT', '/bucket/key', { headers })).body).toContain(
      `<ChecksumCRC64NVME>${digestOf('CRC64NVME', content).toString('base64')}</ChecksumCRC64NVME>`,
    );
  });
});

describe.each(['none', 'SSE-S3', 'SSE-KMS'])('an upload that begins without a checksum, with %s', (encryption) => {
  const headers = encryptions[encryption] ?? {};
  const large = randomBody(5 * 1024 * 1024);
  const crc = value('CRC64NVME', Buffer.concat([large, content]));

  /** Uploads two parts, and completes the upload. Returns the answer. */
  async function uploaded(second: CallOptions, complete: Headers = keyOf(encryption) ?? {}) {
    const { body, headers: begun } = await calls.call('POST', '/bucket/key?uploads', { headers });
    expect(begun['x-amz-checksum-algorithm']).toBeUndefined();
    const target = `/bucket/key?uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
    const parts = [
      await calls.call('PUT', `${target}&partNumber=1`, { body: large, headers: keyOf(encryption) ?? {} }),
      await calls.call('PUT', `${target}&partNumber=2`, {
        ...second,
        headers: { ...keyOf(encryption), ...second.headers },
      }),
    ];
    const list = parts.map(({ status, headers: { etag = '' } }, index) => {
      expect(status).toBe(200);
      return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
    });
    const document = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
    return calls.call('POST', target, { body: document, headers: complete });
  }
  const seen = async () =>
    (await calls.call('HEAD', '/bucket/key', { headers: { ...keyOf(encryption), 'x-amz-checksum-mode': 'ENABLED' } }))
      .headers;

  it('gets the CRC64NVME of the whole object', async () => {
    expect((await uploaded({ body: content })).body).toContain(
      `<ChecksumCRC64NVME>${crc}</ChecksumCRC64NVME><ChecksumType>FULL_OBJECT</ChecksumType>`,
    );
    expect(await seen()).toMatchObject({ [nameOf('CRC64NVME')]: crc, 'x-amz-checksum-type': 'FULL_OBJECT' });
  });

  it('checks the CRC64NVME that the completion sends', async () => {
    const given = (sum: string) => ({ ...keyOf(encryption), [nameOf('CRC64NVME')]: sum });
    expect((await uploaded({ body: content }, given(value('CRC64NVME')))).code).toBe('BadDigest');
    expect((await uploaded({ body: content }, given(crc))).code).toBeUndefined();
    expect((await uploaded({ body: content }, { ...keyOf(encryption), [nameOf('CRC32')]: value('CRC32') })).code).toBe(
      'InvalidRequest',
    );
  });

  it('gets it too where a part came with another checksum, which is checked and answered', async () => {
    const { body } = await calls.call('POST', '/bucket/other?uploads', { headers });
    const target = `/bucket/other?partNumber=1&uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
    const part = { body: content, headers: { [nameOf('CRC32')]: value('CRC32') } };
    expect((await calls.call('PUT', target, part)).headers[nameOf('CRC32')]).toBe(value('CRC32'));
    expect((await calls.call('PUT', target, { ...part, body: 'another' })).code).toBe('BadDigest');
    const sent = { body: content, headers: { [nameOf('SHA256')]: value('SHA256') } };
    expect((await uploaded(sent)).body).toContain(`<ChecksumCRC64NVME>${crc}</ChecksumCRC64NVME>`);
    expect(await seen()).toMatchObject({ [nameOf('CRC64NVME')]: crc, 'x-amz-checksum-type': 'FULL_OBJECT' });
  });
});

describe('an upload under a key of the client', () => {
  it('gets no checksum where it begins without one, so that its completion needs no key', async () => {
    const headers = encryptions['SSE-C'] ?? {};
    const { body } = await calls.call('POST', '/bucket/key?uploads', { headers });
    const target = `/bucket/key?uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
    const part = await calls.call('PUT', `${target}&partNumber=1`, { body: content, headers });
    expect(part.headers[nameOf('CRC64NVME')]).toBeUndefined();
    const of = `<ETag>${part.headers['etag'] ?? ''}</ETag>`;
    const document = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>${of}</Part></CompleteMultipartUpload>`;
    const done = await calls.call('POST', target, { body: document });
    expect([done.code, done.body.includes('ChecksumType')]).toEqual([undefined, false]);
    expect((await calls.call('GET', '/bucket/key', { headers })).body).toBe(content.toString());
  });
});

describe('the checksum of a trailer', () => {
  const body = '<Tagging><TagSet/></Tagging>';
  const crc = digestOf('CRC32', Buffer.from(body)).toString('base64');
  const sha = digestOf('SHA256', Buffer.from(body)).toString('base64');
  /** The answer to a request whose trailer has this CRC32. */
  async function answer(value: string, method: string, target: string, headers: Headers = {}) {
    const { call } = await testCalls({
      authenticate: (request) =>
        Promise.resolve({
          principal: { kind: 'root', accessKey: 'root' },
          body: request.body,
          size: body.length,
          trailing: { algorithm: 'CRC32', value: () => value },
        }),
    });
    return call(method, target, { body, headers });
  }

  it.each([
    ['PUT', '/bucket/key'],
    ['PUT', '/bucket?tagging'],
  ])('is not sent with another one in a header, of which one would not be compared: %s %s', async (method, target) => {
    for (const value of [crc, 'AAAAAA==']) {
      expect(await answer(value, method, target, { 'x-amz-checksum-sha256': sha })).toMatchObject({
        status: 400,
        code: 'InvalidRequest',
        body: 'Expecting a single x-amz-checksum- header',
      });
    }
    expect(await answer('AAAAAA==', method, target)).toMatchObject({ status: 400, code: 'BadDigest' });
    expect((await answer(crc, method, target)).code).toBeUndefined();
  });

  it('is compared with the document that completes an upload', async () => {
    const target = `/bucket/key?uploadId=${'0'.repeat(32)}`;
    expect(await answer('AAAAAA==', 'POST', target)).toMatchObject({ code: 'BadDigest' });
    expect(await answer(crc, 'POST', target)).toMatchObject({ code: 'MalformedXML' });
  });

  it('is refused with a form', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await answer(crc, 'POST', '/bucket', headers)).toMatchObject({ code: 'NotImplemented' });
  });
});
