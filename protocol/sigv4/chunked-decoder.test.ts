import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { ChunkSignatures, encodeSignedChunks, signedChunksLength, signedChunksPayload } from './signed-chunks.ts';
import { decodeChunkedBody, type ChunkedDecoding } from './chunked-decoder.ts';
import { parseAuthorization, type SignatureClaim } from './parse-authorization.ts';
import { signParts } from './sign-request.ts';
import { deriveSigningKey, formatScope, SigningKeys } from './signing-key.ts';
import { verifySignature } from './verify-signature.ts';

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html: 66,560 bytes `a` in chunks of 64 KiB and 1 KiB
const secretKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const signingKey = deriveSigningKey(secretKey, scope);

function claimWith(signature: string): SignatureClaim {
  return {
    kind: 'header',
    accessKey: 'AKIAIOSFODNN7EXAMPLE',
    scope,
    signedHeaders: ['host'],
    signature,
    timestamp: new Date('2013-05-24T00:00:00Z'),
  };
}

const exampleSeed = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9';
const exampleBody = Buffer.concat([
  Buffer.from('10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n'),
  Buffer.alloc(65_536, 'a'),
  Buffer.from('\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n'),
  Buffer.alloc(1_024, 'a'),
  Buffer.from('\r\n0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n'),
]);
const exampleDecoding: ChunkedDecoding = {
  signature: { claim: claimWith(exampleSeed), signingKey },
  trailer: false,
  decodedLength: 66_560,
};

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
const trailerSeed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e';
const trailerBody = Buffer.concat([
  Buffer.from('10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n'),
  Buffer.alloc(65_536, 'a'),
  Buffer.from('\r\n400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n'),
  Buffer.alloc(1_024, 'a'),
  Buffer.from('\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n'),
  Buffer.from('x-amz-checksum-crc32c:sOO8/Q==\r\n'),
  Buffer.from('x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n'),
]);
const trailerDecoding: ChunkedDecoding = {
  signature: { claim: claimWith(trailerSeed), signingKey },
  trailer: true,
  announcedTrailers: ['x-amz-checksum-crc32c'],
  decodedLength: 66_560,
};

function* split(body: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let turn = 0; at < body.length; turn += 1) {
    const end = at + Math.max(1, sizes[turn % sizes.length] ?? body.length);
    yield body.subarray(at, end);
    at = end;
  }
}

async function* streamed(buffers: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* buffers;
}

async function decode(body: Buffer, decoding: ChunkedDecoding, sizes: readonly number[] = []) {
  const decoded = decodeChunkedBody(streamed(split(body, sizes)), decoding);
  const hash = createHash('sha256');
  let length = 0;
  for await (const bytes of decoded) {
    hash.update(bytes);
    length += bytes.length;
  }
  return { length, sha256: hash.digest('hex'), trailers: Object.fromEntries(decoded.trailers) };
}

async function codeOf(decoding: Promise<unknown>): Promise<string> {
  try {
    await decoding;
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

const plainSha256 = createHash('sha256').update(Buffer.alloc(66_560, 'a')).digest('hex');

describe('the examples of the S3 documentation', () => {
  it('decodes the signed chunks', async () => {
    expect(await decode(exampleBody, exampleDecoding)).toEqual({ length: 66_560, sha256: plainSha256, trailers: {} });
  });

  it('decodes the signed chunks with a signed trailer', async () => {
    expect(await decode(trailerBody, trailerDecoding)).toEqual({
      length: 66_560,
      sha256: plainSha256,
      trailers: { 'x-amz-checksum-crc32c': 'sOO8/Q==' },
    });
  });
});

describe('unsigned chunks with a trailer', () => {
  const decoding: ChunkedDecoding = { trailer: true, announcedTrailers: ['x-amz-checksum-crc32'], decodedLength: 5 };

  it.each([
    ['an empty line at the end', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n'],
    ['no empty line at the end', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n'],
    ['the line ends of minio-go', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\n\r\n\r\n'],
    ['several chunks', '2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Amz-Checksum-CRC32: NhCmhg==\r\n\r\n'],
  ])('takes %s', async (_, body) => {
    const { length, trailers } = await decode(Buffer.from(body), decoding);
    expect([length, trailers]).toEqual([5, { 'x-amz-checksum-crc32': 'NhCmhg==' }]);
  });

  it.each([
    ['a trailer that was announced and does not come', '5\r\nhello\r\n0\r\n\r\n', 'MalformedTrailerError'],
    [
      'a trailer that was not announced',
      '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:a\r\nother:b\r\n\r\n',
      'MalformedTrailerError',
    ],
    [
      'a trailer twice',
      '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:a\r\nx-amz-checksum-crc32:b\r\n\r\n',
      'MalformedTrailerError',
    ],
    ['a trailer without a colon', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32\r\n\r\n', 'MalformedTrailerError'],
    ['an endless trailer', `5\r\nhello\r\n0\r\nx-amz-checksum-crc32:${'a'.repeat(2_000)}`, 'MalformedTrailerError'],
    ['more bytes than declared', '6\r\nhello!\r\n0\r\n\r\n', 'IncompleteBody'],
    ['fewer bytes than declared', '4\r\nhell\r\n0\r\nx-amz-checksum-crc32:a\r\n\r\n', 'IncompleteBody'],
    ['a chunk longer than its size', '5\r\nhello!\r\n0\r\n\r\n', 'IncompleteBody'],
    ['a size that is no hex', 'x\r\nhello\r\n0\r\n\r\n', 'IncompleteBody'],
    ['an endless size', '0'.repeat(5_000), 'IncompleteBody'],
    ['an end amid a chunk', '5\r\nhel', 'IncompleteBody'],
    ['an end before the last chunk', '5\r\nhello\r\n', 'IncompleteBody'],
    ['nothing at all', '', 'IncompleteBody'],
    ['many empty lines', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:a\r\n\r\n\r\n\r\n', 'IncompleteBody'],
    ['a chunk after the end', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:a\r\n\r\n5\r\nhello\r\n', 'IncompleteBody'],
    ['bytes after the end', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:a\r\n\r\nmore', 'IncompleteBody'],
  ])('refuses %s', async (_, body, code) => {
    expect(await codeOf(decode(Buffer.from(body), decoding))).toBe(code);
  });
});

/** Signed chunks of these contents, and the last one. */
function signedChunks(...contents: readonly string[]): string[] {
  const chunks = new ChunkSignatures({
    signingKey,
    timestamp: '20130524T000000Z',
    scope: formatScope(scope),
    seed: exampleSeed,
  });
  return [...contents, ''].map((text) => {
    const signature = chunks.chunk(createHash('sha256').update(text).digest('hex'));
    return `${text.length.toString(16)};chunk-signature=${signature}\r\n${text}${text === '' ? '' : '\r\n'}`;
  });
}
const sent = (decodedLength: number, ...parts: readonly string[]) =>
  codeOf(decode(Buffer.from(`${parts.join('')}\r\n`), { ...exampleDecoding, decodedLength }));

describe('signed chunks', () => {
  it('takes an empty line before the trailer signature, as some clients send it', async () => {
    const lines = trailerBody.toString('latin1').replace('sOO8/Q==\r\n', 'sOO8/Q==\n\r\n');
    expect((await decode(Buffer.from(lines, 'latin1'), trailerDecoding)).length).toBe(66_560);
  });

  it('refuses a trailer without its signature', async () => {
    const lines = trailerBody.toString('latin1').replace(/x-amz-trailer-signature.*\r\n/, '');
    expect(await codeOf(decode(Buffer.from(lines, 'latin1'), trailerDecoding))).toBe('SignatureDoesNotMatch');
  });

  it('refuses a trailer value that its signature does not cover', async () => {
    const lines = trailerBody.toString('latin1').replace('sOO8/Q==', 'sOO8/A==');
    expect(await codeOf(decode(Buffer.from(lines, 'latin1'), trailerDecoding))).toBe('SignatureDoesNotMatch');
  });

  it('calls a signature that is none a wrong one', async () => {
    const changed = Buffer.from(exampleBody.toString('latin1').replace('signature=ad80', 'signature=xyz?'), 'latin1');
    expect(await codeOf(decode(changed, exampleDecoding))).toBe('SignatureDoesNotMatch');
    const unsigned = Buffer.from(exampleBody.toString('latin1').replace(/;chunk-signature=[0-9a-f]{64}/, ''), 'latin1');
    expect(await codeOf(decode(unsigned, exampleDecoding))).toBe('IncompleteBody');
  });

  it.each([
    ['a chunk of 8,191 bytes before another', [8_191, 8_192], 'InvalidChunkSizeError'],
    ['a chunk of a byte before one of a byte', [1, 1], 'InvalidChunkSizeError'],
    ['a small chunk amid large ones', [8_192, 10, 8_192], 'InvalidChunkSizeError'],
    ['chunks of 8,192 bytes', [8_192, 8_192], 'none'],
    ['a small chunk that is the last', [8_192, 1], 'none'],
    ['one small chunk', [1], 'none'],
    ['no bytes', [], 'none'],
  ])('answers %s as AWS does', async (_what, sizes, code) => {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(await sent(total, ...signedChunks(...sizes.map((size) => 'a'.repeat(size))))).toBe(code);
  });

  it('refuses chunks in another order', async () => {
    const [a = '', b = '', last = ''] = signedChunks('a'.repeat(8_192), 'b'.repeat(8_192));
    expect(await sent(16_384, a, b, last)).toBe('none');
    expect(await sent(16_384, b, a, last)).toBe('SignatureDoesNotMatch');
  });

  it('come out the same however the stream is split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 8 }), async (sizes) => {
        const spread = sizes.some((size) => size > 300) ? sizes : [...sizes, 30_000];
        expect((await decode(exampleBody, exampleDecoding, spread)).sha256).toBe(plainSha256);
        expect((await decode(trailerBody, trailerDecoding, spread)).sha256).toBe(plainSha256);
      }),
      { numRuns: 60 },
    );
  });

  it('come out the same byte by byte', async () => {
    const small = Buffer.from('hello');
    const framed = await collect(frame(small, small.length));
    const decoding = { ...framed.decoding, decodedLength: small.length };
    expect((await decode(framed.body, decoding, [1])).sha256).toBe(createHash('sha256').update(small).digest('hex'));
  });

  it('never let a changed byte pass', async () => {
    const plain = Buffer.from('the quick brown fox');
    const { body, decoding } = await collect(frame(plain, plain.length));
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = Buffer.from(body);
        changed[at] = (changed[at] ?? 0) ^ flip;
        const spelling = changed.toString('latin1').toLowerCase() === body.toString('latin1');
        if (!spelling) expect(await codeOf(decode(changed, decoding))).not.toBe('none');
      }),
      { numRuns: 500 },
    );
  });

  it('never let a truncated body pass', async () => {
    const plain = Buffer.from('the quick brown fox');
    const { body, decoding } = await collect(frame(plain, plain.length));
    for (let length = 0; length < body.length; length += 1) {
      expect(await codeOf(decode(body.subarray(0, length), decoding))).toBe('IncompleteBody');
    }
  });

  it.each([
    ['signed trailers', trailerBody, trailerDecoding],
    [
      'unsigned trailers',
      Buffer.from('5\r\nhello\r\n0\r\nx-amz-checksum-crc32c:yZRlqg==\r\n\r\n'),
      { trailer: true, announcedTrailers: ['x-amz-checksum-crc32c'], decodedLength: 5 },
    ],
  ])('call a body with %s incomplete wherever it is cut', async (_what, body, decoding: ChunkedDecoding) => {
    const lastLine = '\r\n\r\n'.length;
    for (let length = Math.max(0, body.length - 500); length < body.length - lastLine; length += 1) {
      expect([length, await codeOf(decode(body.subarray(0, length), decoding))]).toEqual([length, 'IncompleteBody']);
    }
    expect(await codeOf(decode(body, decoding))).toBe('none');
  });
});

it('closes the source when its reader goes away', async () => {
  let closed = false;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield exampleBody;
    } finally {
      closed = true;
    }
  }
  for await (const bytes of decodeChunkedBody(source(), exampleDecoding)) {
    if (bytes.length > 0) break;
  }
  expect(closed).toBe(true);
});

describe('encoding', () => {
  it('frames what decodes again, with the length it announced', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(200_000), fc.integer({ min: 1, max: 90_000 }), async (size, chunk) => {
        const plain = Buffer.alloc(size, 'xyz');
        const { body, decoding } = await collect(frame(plain, chunk));
        expect(body.length).toBe(signedChunksLength(size));
        const { length, sha256 } = await decode(body, decoding);
        expect([length, sha256]).toEqual([size, createHash('sha256').update(plain).digest('hex')]);
      }),
      { numRuns: 30 },
    );
  });
});

function frame(plain: Buffer, chunk: number) {
  const credentials = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey };
  const now = new Date('2024-01-01T00:00:00Z');
  const request = { method: 'PUT', rawPath: '/b/k', rawQuery: '', headers: { host: 'h' } };
  const signed = signParts(request, credentials, { region: 'r', service: 's3', now, payloadHash: signedChunksPayload });
  const sent = { ...request, headers: { ...request.headers, ...signed.headers } };
  const claim = parseAuthorization(sent);
  if (claim === undefined || claim.kind === 'version-2') throw new Error('not signed by version 4');
  const signature = verifySignature(sent, claim, secretKey, { now, services: ['s3'], signingKeys: new SigningKeys() });
  const decoding: ChunkedDecoding = { signature, trailer: false, decodedLength: plain.length };
  return { chunks: encodeSignedChunks(streamed(split(plain, [chunk])), signed), decoding };
}

async function collect({ chunks, decoding }: ReturnType<typeof frame>) {
  return { body: Buffer.concat(await Array.fromAsync(chunks)), decoding };
}
