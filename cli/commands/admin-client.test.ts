import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jsonLines } from './admin-client.ts';

async function read(...chunks: (string | Buffer)[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const value of jsonLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) found.push(value);
  return found;
}

describe('lines of JSON', () => {
  it('are found wherever the pieces of the stream end, also within a character', async () => {
    const bytes = Buffer.from('{"a":"ü"}\n{"b":2}\n');
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await read(bytes.subarray(0, at), bytes.subarray(at))).toEqual([{ a: 'ü' }, { b: 2 }]);
    }
  });

  it('may have signs of life between them', async () => {
    expect(await read(' ', '\n', '{"a":1}\n', '  \n', '\n', '{"b":2}\n ')).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('end with the last whole one', async () => {
    expect(await read('{"a":1}\n{"b":')).toEqual([{ a: 1 }]);
  });

  it('are refused where they are none, or have no end', async () => {
    await expect(read('<html>\n')).rejects.toThrow('no JSON');
    await expect(read(...Array.from({ length: 20 }, () => 'x'.repeat(65_536)))).rejects.toThrow('a line of more than');
  });
});
