import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { commitOnce } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { TallyState } from './usage-tally.ts';

/** The progress of a count of usage. Another server, or the same one after a restart, continues there. Times are milliseconds since 1970. */
export interface CountProgress {
  readonly began: number;
  /** The requests that the count answers. */
  readonly answers: number;
  /** The table that is counted; those before it are done. */
  readonly table: 'o' | 'l' | 'v' | 'u';
  /** The last record in the table that is counted. */
  readonly after: Buffer;
  readonly tally: TallyState;
}

type Stored = Omit<CountProgress, 'after'> & { readonly form: 1; readonly after: string };

export const countProgressKey = key('usage', 'progress');

/** Milliseconds. Sums that are older are dropped, and the count begins anew. */
const MAX_AGE = 3 * 24 * 3_600_000;

/** Undefined where no count was interrupted, and where the progress is damaged or that of another version. */
export async function readCountProgress(records: Pick<RecordStore, 'get'>): Promise<CountProgress | undefined> {
  const entry = await records.get(countProgressKey);
  if (entry === undefined) return undefined;
  try {
    const { form, after, ...progress } = decodeRecord(entry.value, 'the progress of the usage') as Stored;
    return (form as number) === 1 ? { ...progress, after: Buffer.from(after, 'base64') } : undefined;
  } catch (error) {
    // The count begins again.
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

export async function writeCountProgress(
  records: RecordStore,
  { after, ...progress }: CountProgress,
  random: (size: number) => Buffer,
): Promise<void> {
  const stored: Stored = { form: 1, ...progress, after: after.toString('base64') };
  await commitOnce(records, { put: [{ key: countProgressKey, value: encodeRecord(stored) }] }, random);
}

/** Reports whether a count may continue: it is young, and no count has ended since it began. */
export function isUsable(
  { began }: Pick<CountProgress, 'began'>,
  { last }: { readonly last?: { readonly ended: number } | undefined },
  now: number,
): boolean {
  return began <= now && now - began < MAX_AGE && (last === undefined || last.ended <= began);
}
