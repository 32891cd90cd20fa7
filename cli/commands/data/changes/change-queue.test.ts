import { describe, expect, it } from 'vitest';
import { ChangeQueue } from './change-queue.ts';

const { signal } = new AbortController();

/** A queue whose clock moves on with each look at it, so that names become quiet. */
function quietQueue(): ChangeQueue {
  let now = 0;
  return new ChangeQueue(() => (now += 1_000));
}

async function take(queue: ChangeQueue): Promise<string[]> {
  return (await Array.fromAsync(queue.changes(signal))).map(({ name }) => name);
}

describe('changes', () => {
  it('come once for each name, in the order of the last change', async () => {
    const queue = quietQueue();
    for (const name of ['a', 'b', 'a', 'c']) queue.add(name);
    const changes = queue.changes(signal);
    const names = [];
    for (let at = 0; at < 3; at += 1) names.push((await changes.next()).value?.name);
    expect(names).toEqual(['b', 'a', 'c']);
    await changes.return();
  });

  it('end where they were lost, and go on after it', async () => {
    const queue = quietQueue();
    queue.add('a');
    queue.loseTrack();
    expect(await take(queue)).toEqual([]);
    queue.add('b');
    expect((await queue.changes(signal).next()).value).toMatchObject({ name: 'b' });
  });

  it('end with the failure of their source', async () => {
    const queue = quietQueue();
    queue.fail(new Error('broken off'));
    await expect(take(queue)).rejects.toThrow('broken off');
  });

  it('end with an interruption', async () => {
    const interrupted = new AbortController();
    const changes = Array.fromAsync(quietQueue().changes(interrupted.signal));
    interrupted.abort();
    await expect(changes).rejects.toThrow('aborted');
  });

  it('are not held without end', async () => {
    const queue = quietQueue();
    for (let at = 0; at < 100_001; at += 1) queue.add(String(at));
    expect(await take(queue)).toEqual([]);
  });
});
