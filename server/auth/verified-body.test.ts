import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { CheckedBody } from './verified-body.ts';
import { bodyFrom, type BodySource, chunksOf } from '../objects/contract/body-source.ts';

function source(chunks: readonly Uint8Array[]): BodySource {
  return bodyFrom(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));
}

async function read(body: BodySource): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunksOf(body)));
}

async function outcomeOf(read: Promise<Buffer>): Promise<string> {
  try {
    return (await read).toString('hex');
  } catch (error) {
    return error instanceof S3Error ? `${error.code} ${error.message} ${JSON.stringify(error.details)}` : String(error);
  }
}

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const hello = [Buffer.from('hel'), Buffer.from('lo')];

describe.each([
  ['in chunks', hello],
  ['in one chunk', [Buffer.from('hello')]],
])('a checked body that comes %s', (_how, chunks) => {
  it('gives what it was declared to be', async () => {
    const body = new CheckedBody(source(chunks), { size: 5, sha256: sha256('hello') });
    expect((await read(body)).toString()).toBe('hello');
  });

  it('fails when its hash is another', async () => {
    const body = new CheckedBody(source(chunks), { size: 5, sha256: sha256('other') });
    await expect(read(body)).rejects.toMatchObject({
      code: 'XAmzContentSHA256Mismatch',
      details: { S3ComputedContentSHA256: sha256('hello') },
    });
  });

  it.each([4, 6])('fails when it was declared to have %i bytes', async (size) => {
    const body = new CheckedBody(source(chunks), { size, sha256: undefined });
    await expect(read(body)).rejects.toMatchObject({ code: 'IncompleteBody' });
  });
});

describe('a checked body', () => {
  it('is the same, or fails the same, however it is cut', async () => {
    const declared = fc.record({
      size: fc.nat(6),
      sha256: fc.constantFrom(undefined, sha256(''), sha256('\0'), 'no hash'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2 }), { maxLength: 3 }), declared, async (chunks, what) => {
        const cut = await outcomeOf(read(new CheckedBody(source(chunks), what)));
        expect(await outcomeOf(read(new CheckedBody(source([Buffer.concat(chunks)]), what)))).toBe(cut);
      }),
    );
  });
});
