import type { ConditionUpdate } from '../conditions.ts';
import type { StoredDeployment } from './read-sealed-keys.ts';

/** Shares of the volume that are free. The second one keeps a condition that is there, so that it does not come and go. */
const nearlyFull = { from: 0.1, until: 0.12 } as const;
const full = 0.01;

const advice =
  'raise spec.storage.size, where its StorageClass lets volumes grow, or remove objects and noncurrent versions';

/** Returns the condition of a volume with little room; undefined for one with room, and for a store that does not tell. */
export function spaceCondition(space: StoredDeployment['space'], wasReported: boolean): ConditionUpdate | undefined {
  if (space === undefined || space.total <= 0) return undefined;
  const share = space.free / space.total;
  const type = 'VolumeFull';
  if (share < full) {
    const message = `less than 1 % of the volume of its store is free, and writes fail: ${advice}`;
    return { type, status: 'True', reason: 'Full', message };
  }
  if (share >= (wasReported ? nearlyFull.until : nearlyFull.from)) return undefined;
  const message = `less than a tenth of the volume of its store is free: ${advice}`;
  return { type, status: 'True', reason: 'NearlyFull', message };
}
