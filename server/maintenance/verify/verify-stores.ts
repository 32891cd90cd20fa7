import type { KeySource } from '../../encryption/key-source.ts';
import { ORPHAN_GRACE } from '../../objects/garbage-collection.ts';
import type { BlobStore } from '../../store/blob-store.ts';
import { within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { type VerifyContext, checkObject } from './check-object.ts';
import type { Finding } from './finding.ts';
import { inParallel } from '../in-parallel.ts';
import { allObjectRecords, entries } from './object-records.ts';
import { orphanBlobs } from './orphan-blobs.ts';
import { checkSmallRecords, strayBlockSums } from './check-records.ts';
import { strayOwners } from './blob-references.ts';
import { checkUpload, strayParts } from './check-upload.ts';

export interface VerifyOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds that a blob may be without an owner: an upload under way; by default what the sweeper grants. */
  readonly graceMs?: number;
  /** Read every body and compare its checksum; without it, that it is there with its size. */
  readonly bodies?: boolean;
  /** Where it is given, encrypted bodies are opened too; without it, the checksums of their ciphertext are compared. */
  readonly keys?: KeySource;
  /** Objects looked at at a time. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifySummary) => void;
}

/** What was looked at. */
export interface VerifySummary {
  readonly objects: number;
  readonly uploads: number;
  readonly blobs: number;
  /** Of blobs that were read. */
  readonly bytes: number;
  readonly findings: number;
}

const CONCURRENCY = 16;

/**
 * Looks for whatever is not as it was stored. Right also while a server serves: what seems wrong is read again before it is told.
 * Memory does not grow with what is stored. Rejects where a store or the key service cannot be reached.
 */
export async function* verifyStores(options: VerifyOptions): AsyncGenerator<Finding, VerifySummary> {
  const { records, blobs, signal, concurrency = CONCURRENCY } = options;
  const summary = { objects: 0, uploads: 0, blobs: 0, bytes: 0, findings: 0 };
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
  for await (const finding of everyFinding()) {
    summary.findings += 1;
    yield finding;
  }
  progress();
  return summary;

  async function* everyFinding(): AsyncGenerator<Finding> {
    yield* checkSmallRecords(check);
    yield* strayBlockSums(check);
    const objects = inParallel(allObjectRecords(records), concurrency, (object) => checkObject(check, object));
    for await (const { findings } of objects) {
      summary.objects += 1;
      progress();
      yield* findings;
    }
    const uploads = inParallel(entries(records, within('u')), concurrency, (upload) => checkUpload(check, upload));
    for await (const { findings } of uploads) {
      summary.uploads += 1;
      progress();
      yield* findings;
    }
    yield* strayParts(check);
    yield* strayOwners(check);
    yield* orphanBlobs(check, options.graceMs ?? ORPHAN_GRACE, () => {
      summary.blobs += 1;
      progress();
    });
  }
}
