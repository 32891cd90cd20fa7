import { z } from 'zod';
import { sealedWithin } from '../../../encryption/sealed-records.ts';
import type { ConsoleRecords, ConsoleTasks } from '../../services.ts';

const expiring = z.object({ expires: z.number() });
const intervalMs = 10 * 60_000;
const looksAt = 10_000;

/** Removes the records of a room that expired, or that nobody can read any more. Says how many. */
async function sweepExpired(records: ConsoleRecords, room: string, nowMs: number): Promise<number> {
  let removed = 0;
  for await (const { key, value } of records.scan({ ...sealedWithin(room), limit: looksAt })) {
    const expires = expiring.safeParse(parseJson(value)).data?.expires ?? 0;
    if (expires > nowMs) continue;
    await records.delete(key);
    removed += 1;
  }
  return removed;
}

/** What expired goes when somebody signs in, every ten minutes at most: records come in no faster than people do. */
export function sweeping(
  records: ConsoleRecords,
  rooms: readonly string[],
  clock: () => Date,
  failed: (error: unknown) => void,
  tasks?: ConsoleTasks,
): () => void {
  const sweepAll = async () => {
    const now = clock().getTime();
    for (const room of rooms) await sweepExpired(records, room, now);
  };
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock().getTime();
    if (now - last < intervalMs) return;
    last = now;
    (tasks === undefined ? sweepAll() : tasks.run('sessions', intervalMs, sweepAll)).catch(failed);
  };
}

/** Undefined for what is no JSON: a record of a form that this version does not know. */
export function parseJson(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}
