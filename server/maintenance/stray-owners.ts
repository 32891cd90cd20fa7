import { recordKeys } from '../objects/records/record-keys.ts';
import { isBlobId } from '../store/blob-id.ts';
import type { BlobId } from '../store/blob-store.ts';
import { after, decodeKey, within } from '../store/keys.ts';
import type { Revision } from '../store/record-store.ts';
import { BlobWindow } from './blob-window.ts';
import type { Check } from './check.ts';
import type { Finding } from './finding.ts';
import { entries } from './object-records.ts';
import { referredBlobs } from './referred-blobs.ts';
import { shownKey } from './shown-key.ts';

/** Owners looked at in one pass over all objects: 16 MiB. */
const WINDOW = 1_000_000;

/**
 * Owner records of blobs that nothing refers to: they keep their blobs for ever. An owner record does not name its object, so that
 * many are held against all objects at once, as many as memory is granted.
 */
export async function* strayOwners(check: Check, size = WINDOW): AsyncGenerator<Finding> {
  const { records, signal } = check;
  const range = within('r');
  const window = new BlobWindow(size);
  let { start } = range;
  for (;;) {
    window.clear();
    for await (const { key } of entries(records, { ...range, start })) {
      signal?.throwIfAborted();
      const id = String(decodeKey(key)[1]);
      start = after(key);
      if (!isBlobId(id)) yield { kind: 'stray-record', record: shownKey(key), message: 'this record owns no blob' };
      else window.add(id);
      if (window.full) break;
    }
    if (window.size === 0) return;
    const full = window.full;
    yield* unreferred(check, window);
    if (!full) return;
  }
}

async function* unreferred(check: Check, window: BlobWindow): AsyncGenerator<Finding> {
  const { records, signal } = check;
  for await (const blob of referredBlobs(records, signal)) window.see(blob);
  // Seldom any; and those of objects that came or moved while the pass ran are seen by another one.
  const suspects = new Map<BlobId, Revision>();
  for (const blob of window.unseen()) {
    const owner = await records.get(recordKeys.owner(blob));
    if (owner !== undefined) suspects.set(blob, owner.revision);
    if (suspects.size === 10_000) yield* confirmed(check, suspects);
  }
  if (suspects.size > 0) yield* confirmed(check, suspects);
}

async function* confirmed({ records, signal }: Check, suspects: Map<BlobId, Revision>): AsyncGenerator<Finding> {
  for await (const blob of referredBlobs(records, signal)) suspects.delete(blob);
  for (const [blob, revision] of suspects) {
    const owner = recordKeys.owner(blob);
    if ((await records.get(owner))?.revision !== revision) continue;
    yield {
      kind: 'stray-record',
      record: shownKey(owner),
      message: `the record keeps blob ${blob}, and no object or part refers to it`,
    };
  }
  suspects.clear();
}
