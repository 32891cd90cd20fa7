import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeCounter } from '../commits.ts';
import { key } from '../keys.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { openLmdbRecordStore } from './record-store.ts';
import type { End, Task } from '../../../test/support/store/lmdb-threads.worker.ts';

class Thread {
  readonly #worker: Worker;

  constructor(folder: string) {
    this.#worker = new Worker(new URL('../../../test/support/store/lmdb-threads.worker.ts', import.meta.url), {
      workerData: { folder },
    });
  }

  async does(message: Task): Promise<unknown> {
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(message);
    return (await answered)[0] as unknown;
  }

  /** Also ends a thread that still works, after a test that took too long. */
  async stop(): Promise<void> {
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage({ kind: 'end' } satisfies End);
    await exited;
  }
}

describe('two threads on one LMDB environment', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let left: Thread;
  let right: Thread;

  beforeEach(async () => {
    folder = await temporaryFolder();
    left = new Thread(folder.path);
    right = new Thread(folder.path);
  });

  afterEach(async () => {
    await Promise.all([left.stop(), right.stop()]);
    await folder.remove();
  });

  it('end while they write, without the end of the process', async () => {
    const busy = [left, right].map((thread) => thread.does({ kind: 'add', times: 300 }));
    await Promise.all([left.stop(), right.stop()]);
    await Promise.all(busy);
    left = new Thread(folder.path);
    right = new Thread(folder.path);
    expect(await left.does({ kind: 'get', name: 'nothing' })).toBeUndefined();
  });

  it('each read what the other was answered, at once', async () => {
    const stale: number[] = [];
    for (let round = 0; round < 100; round += 1) {
      const [writer, reader] = round % 2 === 0 ? [left, right] : [right, left];
      await writer.does({ kind: 'put', name: 'shared', value: String(round) });
      if ((await reader.does({ kind: 'get', name: 'shared' })) !== String(round)) stale.push(round);
    }
    expect(stale).toEqual([]);
  });

  it('read it though they were reading all the time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const reading = right.does({ kind: 'spin', name: 'busy', turns: 2000 });
      await left.does({ kind: 'put', name: 'busy', value: String(round) });
      await reading;
      expect(await right.does({ kind: 'get', name: 'busy' })).toBe(String(round));
    }
  });

  it('lose no increment of a value that both read and write back', async () => {
    await Promise.all([left.does({ kind: 'increment', times: 60 }), right.does({ kind: 'increment', times: 60 })]);
    expect(await left.does({ kind: 'get', name: 'incremented' })).toBe('120');
  });

  it('lose no addition to a counter', async () => {
    await Promise.all([left.does({ kind: 'add', times: 500 }), right.does({ kind: 'add', times: 500 })]);
    const store = openLmdbRecordStore({ folder: folder.path });
    expect(decodeCounter((await store.get(key('counter')))?.value)).toBe(1000n);
    await store.close();
  });

  it('never both own what each expects to be absent', async () => {
    const won = await Promise.all([left.does({ kind: 'own', rounds: 80 }), right.does({ kind: 'own', rounds: 80 })]);
    expect(Number(won[0]) + Number(won[1])).toBe(80);
  });
});
