import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { BitInput, invalid } from './bit-input.ts';
import { decodeBlock } from './bzip2-block.ts';

const blockMagic = 0x314159265359;
const endMagic = 0x177245385090;

/**
 * Decompresses bzip2, also several streams one after the other, as `pbzip2` writes them. It decodes a block when all of the block is in
 * memory, and so holds at most 5 MiB of input and 8 MiB of tables.
 *
 * @throws S3Error InvalidCompressionFormat, TruncatedInput
 */
export async function* bunzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new BitInput(source);
  try {
    yield* decodeStreams(input);
  } catch (error) {
    throw input.isOver ? new S3Error('TruncatedInput', undefined, { cause: error }) : error;
  } finally {
    await input.close();
  }
}

async function* decodeStreams(input: BitInput): AsyncGenerator<Buffer> {
  await input.fill();
  let first = true;
  while (!input.isEnd) {
    const level = readHeader(input);
    first = false;
    for (;;) {
      await input.fill();
      const magic = input.bits(24) * 0x1000000 + input.bits(24);
      if (magic === endMagic) break;
      if (magic !== blockMagic) throw invalid();
      yield* decodeBlock(input, level * 100_000);
    }
    // The checksum of the stream is made of those of its blocks, which were checked.
    input.bits(32);
    input.align();
    if (input.isOver) throw invalid();
    await input.fill();
  }
  if (first) throw new S3Error('TruncatedInput');
}

function readHeader(input: BitInput): number {
  const magic = input.bits(24);
  const level = input.bits(8) - 0x30;
  if (magic !== 0x425a68 || level < 1 || level > 9) throw invalid();
  return level;
}
