import { z } from 'zod';
import { key } from './keys.ts';
import type { RecordStore } from './record-store.ts';
import { StoreError } from './store-error.ts';

/**
 * The key of a record that exists while a store must not act for its deployment: it was restored, or its records and bodies are of
 * different moments. Another store may have the same tiers, targets and sites.
 */
export const unpromotedKey = key('system', 'unpromoted');

const reasons = ['restored', 'older-records', 'older-bodies', 'other-bodies', 'lost-records'] as const;

const schema = z.object({
  /** When the store was found so, in ISO 8601. */
  since: z.iso.datetime(),
  reason: z.enum(reasons),
  /** When the snapshot was taken. */
  taken: z.iso.datetime().optional(),
});

export type Unpromoted = z.infer<typeof schema>;

export function putUnpromoted(unpromoted: Unpromoted): { readonly key: Buffer; readonly value: Buffer } {
  return { key: unpromotedKey, value: Buffer.from(JSON.stringify(unpromoted)) };
}

/** Returns why the store acts for nothing outside of it, and removes nothing. Undefined for a store that goes on. */
export async function readUnpromoted(records: Pick<RecordStore, 'get'>): Promise<Unpromoted | undefined> {
  const entry = await records.get(unpromotedKey);
  if (entry === undefined) return undefined;
  const read = schema.safeParse(parsed(entry.value));
  // A record of a newer server counts, whatever it says.
  return read.success ? read.data : { since: new Date(0).toISOString(), reason: 'restored' };
}

function parsed(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Says in a sentence why the store must be promoted. */
export function unpromotedText({ reason, taken }: Unpromoted): string {
  switch (reason) {
    case 'restored':
      return `the store was restored from a snapshot${taken === undefined ? '' : ` of ${taken}`}`;
    case 'older-records':
      return 'the records are of an earlier moment than the bodies beside them';
    case 'older-bodies':
      return 'the bodies are of an earlier moment than the records';
    case 'other-bodies':
      return 'the records and the bodies are of two stores that went on from the same one';
    case 'lost-records':
      return 'records are missing, or of an earlier moment than the counts of what was committed ("coffer-store verify" names them)';
    default:
      return reason satisfies never;
  }
}

/**
 * Lets only a store that goes on for its deployment act outside of it.
 *
 * @throws StoreError `unpromoted`, which says why, and how that ends
 */
export async function requirePromoted(records: Pick<RecordStore, 'get'>): Promise<void> {
  const unpromoted = await readUnpromoted(records);
  if (unpromoted !== undefined) throw new StoreError('unpromoted', unpromotedState(unpromoted));
}

/** Says why the store must be promoted, what it does not do, and how that ends. */
export function unpromotedState(unpromoted: Unpromoted): string {
  return `${unpromotedText(unpromoted)}: ${unpromotedAdvice}`;
}

/** The message on the work that an unpromoted store leaves, and on how to promote it. */
const unpromotedAdvice =
  'it removes nothing, and leaves tiers, replication, events and sites alone; if it goes on for its deployment, run "coffer-store promote"';
