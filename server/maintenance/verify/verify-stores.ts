import type { KeySource } from '../../encryption/key-source.ts';
import { ORPHAN_GRACE_PERIOD } from '../../objects/garbage-collection/orphan-grace-period.ts';
import type { BlobStore } from '../../store/blob-store.ts';
import { within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { type CheckedObject, type VerifyContext, checkObject } from './check-object.ts';
import type { Issue } from './issue.ts';
import { allObjectRecords, entries, namedPlace, placeText } from './object-records.ts';
import { orphanBlobs } from './orphan-blobs.ts';
import { compareCounts } from './compare-counts.ts';
import { checkCanaries, checkVersionIndex, checkRecords, unreferencedBlockSums } from './check-records.ts';
import { unreferencedOwners } from './blob-references.ts';
import { checkValues } from './check-values.ts';
import { checkUpload, unreferencedParts } from './check-upload.ts';
import { mapStream } from '../../../platform/async/concurrency.ts';

export interface VerifyOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The milliseconds for which a blob may have no owner, as during an upload. The default is the grace period of garbage collection. */
  readonly graceMs?: number;
  /** Reads every body and compares its checksum. Without it, only the existence and the size of a blob are checked. */
  readonly bodies?: boolean;
  /** With keys, encrypted bodies are decrypted; without, the checksums of their ciphertext are compared. */
  readonly keys?: KeySource;
  /** The count of objects that are checked concurrently. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Called for each object that is whole. Without it, one that is quarantined all the same is an issue. */
  readonly onWhole?: (object: CheckedObject) => Promise<void>;
  readonly onProgress?: (progress: VerifySummary) => void;
}

/** The counts of a verification. */
export interface VerifySummary {
  readonly objects: number;
  /** Noncurrent versions and delete markers. */
  readonly versions: number;
  readonly uploads: number;
  readonly blobs: number;
  /** Bytes of blobs that were read. */
  readonly bytes: number;
  /** True where the records have counts to compare them with. Without, a record that is gone without a trace is not noticed. */
  readonly counted: boolean;
  /** The reason where they have none. */
  readonly uncounted?: string;
  readonly findings: number;
}

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

const CONCURRENCY = 16;

/**
 * Checks everything in both stores. It works while a server runs: an issue is checked again before it is reported. Memory does not
 * grow with the stores. Rejects where a store or the key service cannot be reached.
 */
export async function* verifyStores(options: VerifyOptions): AsyncGenerator<Issue, VerifySummary> {
  const { records, blobs, signal, concurrency = CONCURRENCY } = options;
  const summary: Mutable<VerifySummary> = {
    objects: 0,
    versions: 0,
    uploads: 0,
    blobs: 0,
    bytes: 0,
    counted: false,
    findings: 0,
  };
  const progress = () => options.onProgress?.({ ...summary });
  const check: VerifyContext = {
    records,
    blobs,
    keys: options.keys,
    opens: () => options.bodies ?? false,
    bodies: options.bodies ?? false,
    paced(bytes) {
      summary.bytes += bytes;
      progress();
    },
    signal,
  };
  for await (const issue of everyIssue()) {
    summary.findings += 1;
    yield issue;
  }
  progress();
  return summary;

  async function* everyIssue(): AsyncGenerator<Issue> {
    const uncounted = yield* compareCounts(records, signal);
    summary.counted = uncounted === undefined;
    if (uncounted !== undefined) summary.uncounted = uncounted;
    yield* checkRecords(check);
    yield* checkCanaries(check);
    yield* checkValues(check);
    yield* checkVersionIndex(check);
    yield* unreferencedBlockSums(check);
    const objects = mapStream(allObjectRecords(records), concurrency, async (object) => {
      const checked = await checkObject(check, object);
      const isCurrent = object.order === undefined && object.marker === undefined;
      if (checked.issues.length > 0) return { isCurrent, ...checked };
      if (options.onWhole === undefined) return { isCurrent, ...checked, issues: quarantineOf(checked, check.bodies) };
      await options.onWhole(checked);
      return { isCurrent, ...checked };
    });
    for await (const { isCurrent, issues } of objects) {
      if (isCurrent) summary.objects += 1;
      else summary.versions += 1;
      progress();
      yield* issues;
    }
    const uploads = mapStream(entries(records, within('u')), concurrency, (upload) => checkUpload(check, upload));
    for await (const { issues } of uploads) {
      summary.uploads += 1;
      progress();
      yield* issues;
    }
    yield* unreferencedParts(check);
    yield* unreferencedOwners(check);
    yield* orphanBlobs(check, options.graceMs ?? ORPHAN_GRACE_PERIOD, () => {
      summary.blobs += 1;
      progress();
    });
  }
}

/** Returns the issue of an object that is not served, though nothing is wrong with it. */
function quarantineOf({ place, stored }: CheckedObject, isRead: boolean): readonly Issue[] {
  const damage = stored?.record.damage;
  if (damage === undefined) return [];
  const state = isRead
    ? 'it is whole: the next GET, the scrub, or "coffer-store verify --server" releases it'
    : 'its body was not read: verify without --quick';
  const since = new Date(damage.found).toISOString();
  return [
    {
      kind: 'quarantined-object',
      ...namedPlace(place),
      message: `${placeText(place)} is not served since ${since} (${damage.what}); ${state}`,
    },
  ];
}
