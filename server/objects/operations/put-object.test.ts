import { keptChunks } from '../../streams/chunks.ts';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { within } from '../../store/keys.ts';
import { body, chunks, put, randomBody, testLayer } from '../../../test/support/objects/test-layer.ts';

async function prepared(options: Parameters<typeof testLayer>[0] = {}) {
  const test = testLayer({ inlineLimit: 1000, ...options });
  await test.layer.createBucket('bucket', { location: 'us-east-1' });
  return test;
}

async function* brokenBody(): AsyncGenerator<Buffer> {
  yield* chunks(randomBody(5000), 1000);
  await Promise.resolve();
  throw new Error('the client went away');
}

const sizes = [0, 1, 1000, 1001, 65_536, 65_537, 300_000];
const encryptions = [undefined, { scheme: 'SSE-S3' }, { scheme: 'SSE-KMS' }] as const;

describe('putObject', () => {
  for (const size of sizes) {
    for (const encryption of encryptions) {
      it(`gives ${size} bytes back as they came, ${encryption?.scheme ?? 'plain'}`, async () => {
        const { layer } = await prepared();
        const bytes = randomBody(size);
        await layer.putObject(put('bucket', 'key', bytes, { chunk: 9999, ...(encryption && { encryption }) }));
        expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
      });

      it(`takes ${size} bytes without an announced size, ${encryption?.scheme ?? 'plain'}`, async () => {
        const { layer } = await prepared();
        const bytes = randomBody(size);
        const request = put('bucket', 'key', bytes, { chunk: 9999, ...(encryption && { encryption }) });
        const info = await layer.putObject({ ...request, size: { max: size } });
        expect(info.size).toBe(size);
        expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
        if (encryption === undefined) expect(info.etag).toBe(createHash('md5').update(bytes).digest('hex'));
      });
    }
  }

  it.each([5, 2_000])('refuses more bytes than a body without a size may have, and keeps none: %i', async (max) => {
    const { layer, blobs } = await prepared();
    const large = { ...put('bucket', 'key', randomBody(3_000), { chunk: 500 }), size: { max } };
    await expect(layer.putObject(large)).rejects.toMatchObject({ code: 'EntityTooLarge' });
    const broken = { ...put('bucket', 'key', '', { body: brokenBody() }), size: { max: 10_000 } };
    await expect(layer.putObject(broken)).rejects.toThrow('the client went away');
    await expect(layer.headObject('bucket', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('answers with the MD5 as ETag, for SSE-S3 too', async () => {
    const { layer } = await prepared();
    const md5 = createHash('md5').update('hello').digest('hex');
    const plain = await layer.putObject(put('bucket', 'a', 'hello'));
    const sealed = await layer.putObject(put('bucket', 'b', 'hello', { encryption: { scheme: 'SSE-S3' } }));
    expect([plain.etag, sealed.etag]).toEqual([md5, md5]);
  });

  it('does not tell the MD5 of what SSE-KMS encrypts', async () => {
    const { layer } = await prepared();
    const { etag } = await layer.putObject(put('bucket', 'a', 'hello', { encryption: { scheme: 'SSE-KMS' } }));
    expect(etag).toMatch(/^[0-9a-f]{32}$/);
    expect(etag).not.toBe(createHash('md5').update('hello').digest('hex'));
  });

  it('keeps no plaintext of an encrypted object', async () => {
    const { layer, records, blobs } = await prepared();
    const secret = 'this text must not be found '.repeat(100);
    await layer.putObject(put('bucket', 'small', secret.slice(0, 900), { encryption: { scheme: 'SSE-S3' } }));
    await layer.putObject(put('bucket', 'large', secret, { encryption: { scheme: 'SSE-S3' } }));
    const stored: Buffer[] = [];
    for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.of(255) })) {
      if (item.kind === 'entry') stored.push(item.value);
    }
    for await (const { id, size } of blobs.list()) {
      for await (const chunk of keptChunks(blobs.read(id, { start: 0, end: size }))) stored.push(chunk);
    }
    expect(Buffer.concat(stored).includes('must not be found')).toBe(false);
  });

  it('refuses a body that is shorter or longer than announced, and keeps nothing', async () => {
    for (const size of [10, 100_000]) {
      for (const encryption of encryptions) {
        const { layer, blobs } = await prepared();
        for (const announced of [size - 1, size + 1]) {
          const request = put('bucket', 'key', randomBody(size), {
            size: announced,
            ...(encryption && { encryption }),
          });
          await expect(layer.putObject(request)).rejects.toMatchObject({ code: 'IncompleteBody' });
        }
        await expect(layer.headObject('bucket', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
        expect(await Array.fromAsync(blobs.list())).toEqual([]);
      }
    }
  });

  it('refuses a body whose MD5 is another, and keeps nothing', async () => {
    const md5 = createHash('md5').update('other').digest('base64');
    for (const size of [10, 100_000]) {
      const { layer, blobs } = await prepared();
      const request = put('bucket', 'key', randomBody(size), { digests: { md5 } });
      await expect(layer.putObject(request)).rejects.toMatchObject({ code: 'BadDigest' });
      expect(await Array.fromAsync(blobs.list())).toEqual([]);
    }
  });

  it('asks for the checksum of a trailer only after the body', async () => {
    const { layer } = await prepared();
    let finished = false;
    async function* hello() {
      yield Buffer.from('hello');
      await Promise.resolve();
      finished = true;
    }
    const value = () => (finished ? createHash('sha256').update('hello').digest('base64') : 'too early');
    const trailing = { algorithm: 'SHA256', value } as const;
    const info = await layer.putObject(put('bucket', 'key', 'hello', { body: hello(), digests: { trailing } }));
    expect(info.checksum).toEqual({ algorithm: 'SHA256', type: 'FULL_OBJECT', value: value() });
  });

  it('refuses an announced trailer that does not come', async () => {
    const { layer } = await prepared();
    const trailing = { algorithm: 'CRC32', value: () => undefined } as const;
    const answer = layer.putObject(put('bucket', 'key', 'hello', { digests: { trailing } }));
    await expect(answer).rejects.toMatchObject({ code: 'BadDigest' });
  });

  it('fails as the body fails, and keeps nothing', async () => {
    const { layer, blobs } = await prepared();
    const answer = layer.putObject(put('bucket', 'key', randomBody(10_000), { body: brokenBody() }));
    await expect(answer).rejects.toThrow('the client went away');
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('queues the blob that it replaces for removal', async () => {
    const { layer, records } = await prepared();
    await layer.putObject(put('bucket', 'key', randomBody(5000)));
    await layer.putObject(put('bucket', 'key', 'small'));
    expect(await Array.fromAsync(records.scan(within('x')))).toHaveLength(1);
    expect(await Array.fromAsync(records.scan(within('r')))).toEqual([]);
    expect(String(await body(layer, 'bucket', 'key'))).toBe('small');
  });

  it('refuses a bucket that does not exist', async () => {
    const { layer } = await prepared();
    await expect(layer.putObject(put('other', 'key', 'x'))).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  it('refuses a key of more than 1,024 bytes, and takes one of 1,024', async () => {
    const { layer } = await prepared();
    const answer = layer.putObject(put('bucket', 'ä'.repeat(513), 'x'));
    await expect(answer).rejects.toMatchObject({ code: 'KeyTooLongError' });
    await expect(layer.putObject(put('bucket', 'ä'.repeat(512), 'x'))).resolves.toMatchObject({ size: 1 });
  });

  it('refuses a key that is no Unicode text', async () => {
    const { layer } = await prepared();
    await expect(layer.putObject(put('bucket', '\ud800', 'x'))).rejects.toMatchObject({ code: 'InvalidURI' });
  });
});

describe('putObject with encryption', () => {
  it('takes what the request asks for before the default of the bucket, and that before what the server does by itself', async () => {
    const { layer, keyService } = await prepared({ autoEncryption: true });
    await keyService.createKey('other-key');
    expect((await layer.putObject(put('bucket', 'a', 'x'))).encryption).toEqual({
      scheme: 'SSE-KMS',
      keyName: 'default-key',
    });
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'other-key' });
    expect((await layer.putObject(put('bucket', 'a', 'x'))).encryption).toEqual({
      scheme: 'SSE-KMS',
      keyName: 'other-key',
    });
    const asked = await layer.putObject(put('bucket', 'a', 'x', { encryption: { scheme: 'SSE-S3' } }));
    expect(asked.encryption).toEqual({ scheme: 'SSE-S3' });
  });

  it('keeps the context of the client and needs it to open the object', async () => {
    const { layer } = await prepared();
    const encryption = { scheme: 'SSE-KMS', context: { project: 'x' } } as const;
    await layer.putObject(put('bucket', 'a', 'hello', { encryption }));
    expect((await layer.headObject('bucket', 'a')).encryption).toMatchObject({ context: { project: 'x' } });
    expect(String(await body(layer, 'bucket', 'a'))).toBe('hello');
  });
});
