/** One of two threads of `threads.process.test.ts`: it opens the same store and does what the test tells it. */
import { parentPort, workerData } from 'node:worker_threads';
import { key } from '../../../server/store/keys.ts';
import { commitId, Patient } from './patient.ts';
import { openLmdbRecordStore } from '../../../server/store/lmdb/record-store.ts';

export type Task =
  | { readonly kind: 'increment'; readonly times: number }
  | { readonly kind: 'add'; readonly times: number }
  | { readonly kind: 'own'; readonly rounds: number }
  | { readonly kind: 'put'; readonly name: string; readonly value: string }
  | { readonly kind: 'get'; readonly name: string }
  | { readonly kind: 'spin'; readonly name: string; readonly turns: number };

/** Asks the thread to end. LMDB ends the process (SIGSEGV) if a thread is terminated while it writes. */
export type End = { readonly kind: 'end' };

const { folder } = workerData as { readonly folder: string };
const store = openLmdbRecordStore({ folder });
const patient = new Patient(store);

const running = new Set<Promise<void>>();

parentPort?.on('message', (task: Task | End) => {
  if (task.kind === 'end') {
    void end();
    return;
  }
  const run = perform(task).then((message) => parentPort?.postMessage(message));
  running.add(run);
  void run.finally(() => running.delete(run));
});

async function end(): Promise<void> {
  await Promise.allSettled(running);
  await store.close();
  parentPort?.close();
}

async function perform(task: Task): Promise<unknown> {
  switch (task.kind) {
    case 'increment':
      for (let time = 0; time < task.times; time += 1) await patient.commit(increment);
      return undefined;
    case 'add':
      await Promise.all(
        Array.from({ length: task.times }, () =>
          store.commit({ id: commitId(), add: [{ key: key('counter'), delta: 1n }] }),
        ),
      );
      return undefined;
    case 'own': {
      let won = 0;
      for (let round = 0; round < task.rounds; round += 1) {
        const at = key('owner', String(round));
        const answer = await patient.attempt({
          expect: [{ kind: 'absent', key: at }],
          put: [{ key: at, value: Buffer.alloc(0) }],
        });
        if (answer.kind === 'committed') won += 1;
      }
      return won;
    }
    case 'put':
      await store.commit({ id: commitId(), put: [{ key: key(task.name), value: Buffer.from(task.value) }] });
      return undefined;
    case 'get':
      return (await store.get(key(task.name)))?.value.toString();
    case 'spin': {
      // Reads in one turn after another, so that the thread's own read transaction is always a recent one.
      let last: string | undefined;
      for (let turn = 0; turn < task.turns; turn += 1) {
        last = (await store.get(key(task.name)))?.value.toString();
      }
      return last;
    }
    default:
      return task satisfies never;
  }
}

/** A value read and written back, one higher: lost if anybody wrote between and the store did not notice. */
async function increment(from: Patient) {
  const at = key('incremented');
  const entry = await from.get(at);
  const value = Buffer.from(String(Number(entry?.value.toString() ?? 0) + 1));
  return {
    expect: [
      entry === undefined
        ? { kind: 'absent' as const, key: at }
        : { kind: 'revision' as const, key: at, revision: entry.revision },
    ],
    put: [{ key: at, value }],
  };
}
