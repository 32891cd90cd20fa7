import { z } from 'zod';
import { sealedWithin } from '../../../encryption/sealed-records.ts';
import type { ConsoleRecords, ConsoleTasks } from '../../services.ts';

const expiring = z.object({ expires: z.number() });
const intervalMs = 10 * 60_000;
const maxPerSweep = 10_000;

/** Removes the records with the prefix that expired or cannot be parsed. Returns their number. */
async function sweepExpired(records: ConsoleRecords, prefix: string, nowMs: number): Promise<number> {
  let removed = 0;
  for await (const { key, value } of records.scan({ ...sealedWithin(prefix), limit: maxPerSweep })) {
    const expires = expiring.safeParse(parseJson(value)).data?.expires ?? 0;
    if (expires > nowMs) continue;
    await records.delete(key);
    removed += 1;
  }
  return removed;
}

/** Returns a function that removes expired records, at most every ten minutes. Each sign-in calls it. */
export function createSweeper(
  records: ConsoleRecords,
  prefixes: readonly string[],
  clock: () => Date,
  failed: (error: unknown) => void,
  tasks?: ConsoleTasks,
): () => void {
  const sweepAll = async () => {
    const now = clock().getTime();
    for (const prefix of prefixes) await sweepExpired(records, prefix, now);
  };
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock().getTime();
    if (now - last < intervalMs) return;
    last = now;
    (tasks === undefined ? sweepAll() : tasks.run('sessions', intervalMs, sweepAll)).catch(failed);
  };
}

/** Returns undefined if the value is not JSON, as in a record of an unknown format. */
export function parseJson(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}
