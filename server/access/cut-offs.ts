import { sealedKey, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Key } from '../store/record-store.ts';

/** Who was found disabled or gone, until the provider says that they are back: what was seen a few seconds before counts no more. */
export interface CutOffs {
  mark(parent: string): Promise<void>;
  lift(parent: string): Promise<void>;
  has(parent: string): Promise<boolean>;
}

export function createCutOffs(records: Pick<SealedRecordStore, 'put' | 'delete' | 'revision'>): CutOffs {
  return {
    async mark(parent) {
      await records.put(key(parent), Buffer.from('{}'));
    },
    async lift(parent) {
      await records.delete(key(parent));
    },
    has: async (parent) => (await records.revision(key(parent))) !== undefined,
  };
}

function key(parent: string): Key {
  return sealedKey('idp', 'cut-off', parent);
}
