import { useSyncExternalStore } from 'react';
import { queryClient } from './queries.ts';

const counts = new Map<string, number>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reports that objects of a bucket changed: its folders, and what is shown of its objects, are loaded again. */
export function objectsChanged(bucket: string): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  for (const listener of listeners) listener();
  for (const name of ['object', 'versions', 'tags', 'lock']) {
    void queryClient.invalidateQueries({ queryKey: [name, bucket] });
  }
}

/** A number that is another one after each change of the bucket's objects. */
export function useObjectChanges(bucket: string): number {
  return useSyncExternalStore(subscribe, () => counts.get(bucket) ?? 0);
}
