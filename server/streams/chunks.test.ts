import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { JoinedChunks, eachChunk, ownChunks, type Chunks, readable, keptChunks } from './chunks.ts';

async function* letters(text: string, closed: string[] = []): AsyncGenerator<Buffer> {
  try {
    for (const letter of text) yield Buffer.from(letter);
  } finally {
    closed.push(text);
  }
}

async function textOf(chunks: Chunks): Promise<string> {
  let text = '';
  for await (const chunk of eachChunk(chunks)) text += chunk.toString();
  return text;
}

describe('pieces', () => {
  it('of an iterable are its pieces', async () => {
    expect(await textOf(ownChunks(letters('abc')))).toBe('abc');
  });

  it('end with undefined, again and again', async () => {
    const chunks = ownChunks(letters('a'));
    expect([await chunks.next(), await chunks.next(), await chunks.next()].map(String)).toEqual([
      'a',
      'undefined',
      'undefined',
    ]);
  });

  it('that are closed halfway let their source finish', async () => {
    const closed: string[] = [];
    const chunks = ownChunks(letters('abc', closed));
    await chunks.next();
    await chunks.close();
    expect(closed).toEqual(['abc']);
  });

  it('of an unread stream destroy it when they are closed', async () => {
    const stream = Readable.from(letters('abc'));
    await ownChunks(stream).close();
    expect(stream.destroyed).toBe(true);
  });

  it('may be closed twice', async () => {
    const chunks = ownChunks(letters('abc'));
    await chunks.close();
    await expect(chunks.close()).resolves.toBeUndefined();
  });

  it('become a stream where they may be kept', async () => {
    expect(Buffer.concat(await readable(ownChunks(letters('abc'))).toArray()).toString()).toBe('abc');
  });

  it('are closed when the stream made of them is destroyed', async () => {
    const closed: string[] = [];
    for await (const chunk of readable(ownChunks(letters('abc', closed)))) {
      expect(String(chunk)).toBe('a');
      break;
    }
    await expect.poll(() => closed).toEqual(['abc']);
  });

  it('are copied for a reader that keeps borrowed ones', async () => {
    const buffer = Buffer.from('a');
    const left = ['b', 'c'];
    const lent: Chunks = {
      ownership: 'lent',
      next() {
        const letter = left.shift();
        buffer.write(letter ?? '-');
        return Promise.resolve(letter === undefined ? undefined : buffer);
      },
      close: () => Promise.resolve(),
    };
    expect((await Array.fromAsync(keptChunks(lent))).map(String)).toEqual(['b', 'c']);
  });

  it('may be one buffer for who keeps them', async () => {
    expect(await Array.fromAsync(keptChunks(Buffer.from('all')))).toEqual([Buffer.from('all')]);
  });
});

describe('joined pieces', () => {
  it('give one body after the other', async () => {
    const bodies = ['ab', '', 'c'].map((text) => ownChunks(letters(text)));
    expect(await textOf(new JoinedChunks('own', bodies))).toBe('abc');
  });

  it('close a body before they open the next', async () => {
    const steps: string[] = [];
    function* bodies() {
      for (const text of ['ab', 'c']) {
        steps.push(`open ${text}`);
        yield ownChunks(letters(text, steps));
      }
    }
    await textOf(new JoinedChunks('own', bodies()));
    expect(steps).toEqual(['open ab', 'ab', 'open c', 'c']);
  });

  it('open nothing more when they are closed', async () => {
    const closed: string[] = [];
    const chunks = new JoinedChunks('own', [ownChunks(letters('ab', closed)), ownChunks(letters('c', closed))]);
    await chunks.next();
    await chunks.close();
    expect([await chunks.next(), closed]).toEqual([undefined, ['ab']]);
  });
});
