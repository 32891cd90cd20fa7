import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ownPieces } from '../../platform/pieces.ts';
import { Gmac } from './checksums/gmac.ts';
import { PlainPieces, type PlainPiecesOptions } from './plain-pieces.ts';
import { chunks } from './testing.ts';

const stored = Buffer.from('what was stored');
const damaged = Buffer.from('what is there..');
const gmac = new Gmac();
gmac.update(stored);
const checksums = { crc: crc32(stored), gmac: gmac.digest() };

const damage = () => new Error('damaged');

/** The text that comes before the failure, and the failure. */
async function read(bytes: Buffer, options: Partial<PlainPiecesOptions> = {}): Promise<[string, string | undefined]> {
  const pieces = new PlainPieces(ownPieces(chunks(bytes, 4)), { length: stored.length, damage, ...options });
  let text = '';
  try {
    for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) text += piece.toString();
    return [text, undefined];
  } catch (error) {
    return [text, error instanceof Error ? error.message : String(error)];
  }
}

describe('stored bytes', () => {
  it.each([
    ['no checksum', {}],
    ['a CRC-32', { whole: { crc: checksums.crc } }],
    ['a CRC-32 and a GMAC', { whole: checksums }],
  ])('with %s are given as they are', async (_name, options) => {
    expect(await read(stored, options)).toEqual(['what was stored', undefined]);
  });

  it.each([
    ['CRC-32', { crc: checksums.crc }],
    ['GMAC', checksums],
  ])('that are not of their %s fail before the last piece', async (_name, whole) => {
    expect(await read(damaged, { whole })).toEqual(['what is ther', 'damaged']);
  });

  it('that end early fail', async () => {
    expect(await read(stored.subarray(0, 12))).toEqual(['what was sto', 'damaged']);
  });

  it('that are more than was asked for fail', async () => {
    expect(await read(Buffer.concat([stored, stored]), { whole: checksums })).toEqual(['what was sto', 'damaged']);
  });
});
