import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { quarantined, type QuarantinedObject, release } from '../objects/operations/quarantine.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { blobsMarker } from '../store/blobs-marker.ts';
import { promote } from '../store/checkpoint.ts';
import { readUnpromoted, unpromotedText } from '../store/promotion.ts';
import { isReadOnly, setReadOnly } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BlobsAddress, RecordsAddress } from '../../platform/store-address/store-address.ts';
import { placeFrom, type StoredPlace, storedPlace } from './verify/object-records.ts';
import type { CheckedObject } from './verify/check-object.ts';
import type { Issue } from './verify/issue.ts';
import { readScrubState, type ScrubState } from './verify/scrub.ts';
import { takeSnapshot, type SnapshotSummary } from './snapshot.ts';
import { verifyStores, type VerifySummary } from './verify/verify-stores.ts';
import { MaintenanceError } from './maintenance-error.ts';

/** The operations on its own stores that a running server offers to administrators. */
export interface Maintenance {
  verify(options: { readonly bodies: boolean }): Promise<Verification>;
  /** Writes below the data folder. Throws `MaintenanceError`. */
  snapshot(name: string): Promise<SnapshotSummary & { readonly path: string }>;
  scrub(): Promise<{ readonly state?: ScrubState; readonly quarantined: number }>;
  quarantined(after: StoredPlace | undefined, limit: number): Promise<QuarantinePage>;
  setReadOnly(readOnly: boolean): Promise<void>;
  isReadOnly(): Promise<boolean>;
  /** Returns since when, and why, the store must be promoted. Undefined for one that goes on for its deployment. */
  unpromoted(): Promise<{ readonly since: string; readonly reason: string } | undefined>;
  /** Lets a restored store go on for its deployment. `promoted` says why it had to be; absent where it went on already. */
  promote(): Promise<{ readonly promoted?: string }>;
}

/** Quarantined objects, and the place after which the next page begins; it is absent after the last page. */
interface QuarantinePage {
  readonly objects: readonly Omit<QuarantinedObject, 'order'>[];
  readonly next?: StoredPlace;
}

export interface Verification {
  readonly findings: readonly Issue[];
  /** True where there are more issues than are listed. */
  readonly more: boolean;
  readonly summary: VerifySummary;
}

/** The maximum of issues in an answer: more of them have one cause. */
const MAX_ISSUES = 1_000;
/** The maximum to which damaged objects are counted. */
const MAX_COUNTED = 10_000;

export function createMaintenance({
  records,
  blobs,
  addresses,
}: {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly addresses: { readonly records: RecordsAddress; readonly blobs: BlobsAddress };
}): Maintenance {
  let busy: string | undefined;
  const exclusively = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (busy !== undefined)
      throw new MaintenanceError('busy', `${busy} is in progress on this server: wait until it has ended`);
    busy = what;
    try {
      return await work();
    } finally {
      busy = undefined;
    }
  };
  return {
    verify: ({ bodies }) =>
      exclusively('a verification', () => {
        // An object that was quarantined is served again once all its bytes were read and found whole.
        const onWhole = async ({ place, stored }: CheckedObject) => {
          if (stored?.record.damage !== undefined) await release(records, place, stored.entry, randomBytes);
        };
        const options = { records, blobs, now: Date.now(), bodies, concurrency: 4 };
        return gather(verifyStores({ ...options, ...(bodies && { onWhole }) }));
      }),
    snapshot: (name) =>
      exclusively('a snapshot', async () => {
        const folder = dataFolderOf(addresses);
        if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
          throw new MaintenanceError(
            'invalid-name',
            `${JSON.stringify(name)} is not a valid snapshot name: use letters, digits, dots, dashes`,
          );
        }
        const out = join(folder, 'snapshots', name);
        return { path: out, ...(await takeSnapshot({ records, folder, out })) };
      }),
    async scrub() {
      const state = await readScrubState(records);
      let count = 0;
      for await (const _object of quarantined(records, undefined, MAX_COUNTED)) count += 1;
      return { ...(state && { state }), quarantined: count };
    },
    async quarantined(after, limit) {
      const found = await Array.fromAsync(quarantined(records, after && placeFrom(after), limit));
      const last = found.length < limit ? undefined : found.at(-1);
      return { objects: found.map((object) => shownDamage(object)), ...(last && { next: storedPlace(last) }) };
    },
    setReadOnly: (readOnly) => setReadOnly(records, readOnly),
    isReadOnly: () => isReadOnly(records),
    async unpromoted() {
      const unpromoted = await readUnpromoted(records);
      return unpromoted && { since: unpromoted.since, reason: unpromotedText(unpromoted) };
    },
    async promote() {
      const unpromoted = await readUnpromoted(records);
      if (unpromoted === undefined) return {};
      await promote({ records, marker: await blobsMarker(addresses.blobs) }, randomBytes);
      return { promoted: unpromotedText(unpromoted) };
    },
  };
}

async function gather(verification: AsyncGenerator<Issue, VerifySummary>): Promise<Verification> {
  const issues: Issue[] = [];
  for (;;) {
    const { done, value } = await verification.next();
    if (done === true) return { findings: issues, more: value.findings > issues.length, summary: value };
    if (issues.length < MAX_ISSUES) issues.push(value);
  }
}

function shownDamage(object: QuarantinedObject): Omit<QuarantinedObject, 'order'> {
  const { order: _, ...shown } = object;
  return shown;
}

/** Returns the folder that holds both stores. */
function dataFolderOf({ records, blobs }: { readonly records: RecordsAddress; readonly blobs: BlobsAddress }): string {
  if (records.kind === 'lmdb' && blobs.kind === 'files') {
    const folder = dirname(records.folder);
    if (blobs.folder === join(folder, 'blobs')) return folder;
  }
  throw new MaintenanceError(
    'unsupported',
    'only a data folder that holds records and blobs has snapshots: back a database and a bucket up by their own means, or use coffer-store copy',
  );
}
