import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { SharedMutex, sharedMutexMemory } from './shared-mutex.ts';

const module = new URL('./shared-mutex.ts', import.meta.url).href;

/** A thread that takes "x" and says so; it makes progress as often as it is told, and gives it back when it hears something. */
async function holder(memory: SharedArrayBuffer, progressMs: number): Promise<Worker> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { once } = require('node:events');
    import(workerData.module).then(({ SharedMutex }) =>
      new SharedMutex({ memory: workerData.memory }).run('x', async (progress) => {
        parentPort.postMessage('taken');
        const timer = setInterval(progress, workerData.progressMs);
        await once(parentPort, 'message');
        clearInterval(timer);
      }));`;
  const worker = new Worker(code, { eval: true, workerData: { module, memory, progressMs } });
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

  it('waits for a thread that makes progress, longer than the grace period', async () => {
    const memory = sharedMutexMemory();
    const worker = await holder(memory, 5);
    let isTaken = false;
    const taken = new SharedMutex({ memory, graceMs: 200 }).run('x', () => Promise.resolve((isTaken = true)));
    await sleep(1_000);
    expect(isTaken).toBe(false);
    worker.postMessage('give it back');
    await taken;
    await worker.terminate();
  });

  it('is taken from a thread that died', async () => {
    const memory = sharedMutexMemory();
    const worker = await holder(memory, 1_000);
    const taken = new SharedMutex({ memory, graceMs: 50 }).run('x', () => Promise.resolve('taken'));
    await worker.terminate();
    expect(await taken).toBe('taken');
  });
});
