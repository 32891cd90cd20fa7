import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { Finding } from './finding.ts';

export interface VerifyOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds that a blob may be without an owner: an upload under way; by default what the sweeper grants. */
  readonly graceMs?: number;
  /** Read every body and compare its checksum; without it, that it is there with its size. */
  readonly bodies?: boolean;
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
  /** Of bodies that were read. */
  readonly bytes: number;
  readonly findings: number;
}

/**
 * Looks for whatever is not as it was stored. Right also while a server serves: what seems wrong is read again before it is told.
 * Memory does not grow with what is stored.
 */
// eslint-disable-next-line require-yield
export async function* verifyStores(_options: VerifyOptions): AsyncGenerator<Finding, VerifySummary> {
  await Promise.resolve();
  throw new Error('verifyStores is being written');
}
