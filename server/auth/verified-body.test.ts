import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BodySource } from '../objects/object-layer.ts';
import { CheckedBody } from './verified-body.ts';

function source(pieces: readonly Uint8Array[]): BodySource {
  const buffers = pieces.map((piece) => Buffer.from(piece));
  return {
    async *[Symbol.asyncIterator]() {
      yield* buffers;
    },
    whole: () => Promise.resolve(Buffer.concat(buffers)),
  };
}

async function byIteration(body: BodySource): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function outcomeOf(read: Promise<Buffer | undefined>): Promise<string> {
  try {
    return (await read)?.toString('hex') ?? 'not offered';
  } catch (error) {
    return error instanceof S3Error ? `${error.code} ${error.message} ${JSON.stringify(error.details)}` : String(error);
  }
}

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const hello = [Buffer.from('hel'), Buffer.from('lo')];

describe.each([
  ['by iteration', byIteration],
  ['at once', (body: BodySource) => body.whole?.() ?? Promise.resolve(undefined)],
])('a checked body, read %s', (_how, read) => {
  it('gives what it was declared to be', async () => {
    const body = new CheckedBody(source(hello), { size: 5, sha256: sha256('hello') });
    expect((await read(body))?.toString()).toBe('hello');
  });

  it('fails when its hash is another', async () => {
    const body = new CheckedBody(source(hello), { size: 5, sha256: sha256('other') });
    await expect(read(body)).rejects.toMatchObject({
      code: 'XAmzContentSHA256Mismatch',
      details: { S3ComputedContentSHA256: sha256('hello') },
    });
  });

  it.each([4, 6])('fails when it was declared to have %i bytes', async (size) => {
    const body = new CheckedBody(source(hello), { size, sha256: undefined });
    await expect(read(body)).rejects.toMatchObject({ code: 'IncompleteBody' });
  });
});

describe('a checked body', () => {
  it('is not offered at once where its length is not declared', () => {
    expect(new CheckedBody(source(hello), { size: undefined, sha256: undefined }).whole).toBeUndefined();
  });

  it('is the same, or fails the same, read either way', async () => {
    const declared = fc.record({
      size: fc.nat(6),
      sha256: fc.constantFrom(undefined, sha256(''), sha256('\0'), 'no hash'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2 }), { maxLength: 3 }), declared, async (pieces, what) => {
        const iterated = await outcomeOf(byIteration(new CheckedBody(source(pieces), what)));
        const once = new CheckedBody(source(pieces), what);
        expect(await outcomeOf(once.whole?.() ?? Promise.resolve(undefined))).toBe(iterated);
      }),
    );
  });
});
