import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { SharedMutex, sharedMutexMemory } from './shared-mutex.ts';

const module = new URL('./shared-mutex.ts', import.meta.url).href;

/** A thread that takes "x", says so, and never gives it back. */
async function holder(memory: SharedArrayBuffer): Promise<Worker> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { once } = require('node:events');
    import(workerData.module).then(({ SharedMutex }) =>
      new SharedMutex({ memory: workerData.memory }).run('x', async () => {
        parentPort.postMessage('taken');
        await once(parentPort, 'message');
      }));`;
  const worker = new Worker(code, { eval: true, workerData: { module, memory } });
  await once(worker, 'message');
  return worker;
}

describe('a mutex of all threads', () => {
  it('is held by one after the other', async () => {
    const mutex = new SharedMutex();
    let inside = 0;
    const seen: number[] = [];
    const run = () =>
      mutex.run('x', async () => {
        inside += 1;
        seen.push(inside);
        await sleep(1);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 20 }, run));
    expect(seen).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it('is given back by work that fails', async () => {
    const mutex = new SharedMutex();
    await expect(mutex.run('x', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await mutex.run('x', () => Promise.resolve('next'))).toBe('next');
  });

  it('waits for a holder that makes progress in each grace period, and no longer', async () => {
    const memory = sharedMutexMemory();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<() => void>();
    const holding = new SharedMutex({ memory }).run('x', (report) => {
      begun.resolve(report);
      return held.promise;
    });
    const progress = await begun.promise;
    let waits = 0;
    const waitForChange = () => {
      waits += 1;
      if (waits < 5) progress();
      return Promise.resolve('timed-out' as const);
    };
    expect(await new SharedMutex({ memory, waitForChange }).run('x', () => Promise.resolve(waits))).toBe(5);
    held.resolve();
    await holding;
  });

  it('is taken from a thread that died', async () => {
    const memory = sharedMutexMemory();
    const worker = await holder(memory);
    const taken = new SharedMutex({ memory, graceMs: 50 }).run('x', () => Promise.resolve('taken'));
    await worker.terminate();
    expect(await taken).toBe('taken');
  });
});
