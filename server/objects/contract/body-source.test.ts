import { describe, expect, it } from 'vitest';
import { bodyFrom, type BodySource, chunksOf } from './body-source.ts';

/** A body of these letters, which records each step of its reader. */
function letters(text: string, steps: string[] = []): BodySource {
  return {
    async pipe(take) {
      try {
        for (const letter of text) {
          steps.push(`give ${letter}`);
          await take(Buffer.from(letter));
        }
      } catch (error) {
        steps.push('stop');
        throw error;
      }
    },
  };
}

describe('the chunks of a body', () => {
  it('come in order, each after the consumer is done with the one before', async () => {
    const steps: string[] = [];
    for await (const chunk of chunksOf(letters('ab', steps))) {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`took ${chunk.toString()}`);
    }
    expect(steps).toEqual(['give a', 'took a', 'give b', 'took b']);
  });

  it('end without a chunk where the body is empty', async () => {
    expect(await Array.fromAsync(chunksOf(letters('')))).toEqual([]);
  });

  it('fail as the body does, after the chunks that came', async () => {
    const body: BodySource = {
      async pipe(take) {
        await take(Buffer.from('a'));
        throw new Error('broken');
      },
    };
    const seen: string[] = [];
    const read = async () => {
      for await (const chunk of chunksOf(body)) seen.push(chunk.toString());
    };
    await expect(read()).rejects.toThrow('broken');
    expect(seen).toEqual(['a']);
  });

  it('leave the rest unread where the consumer stops', async () => {
    const steps: string[] = [];
    for await (const _chunk of chunksOf(letters('abc', steps))) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual(['give a', 'stop']);
  });

  it('stop a body whose first chunk comes after the consumer has gone', async () => {
    const steps: string[] = [];
    const late = Promise.withResolvers<void>();
    const inner = letters('a', steps);
    const chunks = chunksOf({ pipe: (take) => late.promise.then(() => inner.pipe(take)) });
    const first = chunks.next();
    const returned = chunks.return(undefined);
    late.resolve();
    await Promise.all([first, returned]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual(['give a', 'stop']);
  });
});

describe('a body from chunks', () => {
  it('waits for its taker, and closes the chunks when that fails', async () => {
    let closed = false;
    async function* source() {
      try {
        yield Buffer.from('a');
        yield Buffer.from('b');
      } finally {
        closed = true;
      }
    }
    await expect(bodyFrom(source()).pipe(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
    expect(closed).toBe(true);
  });
});
