import { randomBytes } from 'node:crypto';
import { key as keyOf } from '../../server/store/keys.ts';
import { type Batch, type Entry, type RecordStore } from '../../server/store/record-store.ts';
import type { Answer, Register } from './operation.ts';
import { isStoreUnavailable } from '../../server/store/store-error.ts';

/** Records as registers: what the engine itself promises, below everything that a server adds. */
export function recordRegister(store: RecordStore): Register {
  const find = (key: string) => reached(store.get(keyOf('linearizability', key)));

  async function commit(batch: Omit<Batch, 'id'>): Promise<Answer> {
    const id = randomBytes(16).toString('hex');
    const outcome = await reached(store.commit({ ...batch, id }));
    if (outcome === 'unknown') return 'unknown';
    if (outcome.kind === 'committed') return 'done';
    if (outcome.kind === 'conflict') return 'refused';
    const settled = await reached(store.outcome(id));
    if (settled === 'committed') return 'done';
    // Whoever asks may not take it for refused by its condition: it was not done, for no reason of its own.
    return 'unknown';
  }

  return {
    async get(key) {
      const entry = await find(key);
      return entry === 'unknown' ? 'unknown' : { shown: valueOf(entry) };
    },
    async put(key, value, condition) {
      const put = [{ key: keyOf('linearizability', key), value: Buffer.from(value) }];
      if (condition.kind === 'none') return commit({ put });
      if (condition.kind === 'absent') {
        return commit({ put, expect: [{ kind: 'absent', key: keyOf('linearizability', key) }] });
      }
      const entry = await find(key);
      if (entry === 'unknown') return 'unknown';
      if (entry === undefined || valueOf(entry) !== condition.value) return 'refused';
      // No value is written twice: another revision is another value.
      return commit({ put, expect: [{ kind: 'revision', key: entry.key, revision: entry.revision }] });
    },
    async delete(key) {
      return (await commit({ delete: [keyOf('linearizability', key)] })) === 'done' ? 'done' : 'unknown';
    },
  };
}

function valueOf(entry: Entry | undefined): string | undefined {
  return entry?.value.toString();
}

/** A store that cannot be reached may have done what it was asked. */
async function reached<T>(call: Promise<T>): Promise<T | 'unknown'> {
  try {
    return await call;
  } catch (error) {
    if (isStoreUnavailable(error)) return 'unknown';
    throw error;
  }
}
