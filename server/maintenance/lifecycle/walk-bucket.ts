import { mapLimit } from '../../../platform/async/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import {
  abortionOf,
  dueForCurrent,
  dueForMarker,
  dueNoncurrentTransition,
  dueTransition,
  type Evaluation,
  isNoncurrentDue,
  isWholeKeyDue,
  type NoncurrentFacts,
  type VersionFacts,
} from '../../objects/lifecycle/evaluate.ts';
import { isDamage } from '../../objects/records/damage.ts';
import type {
  ExpireObject,
  ExpiringVersion,
  ListedVersion,
  ObjectLayer,
  TransitionObject,
} from '../../objects/contract/object-layer.ts';
import { isStoreError } from '../../store/store-error.ts';
import { isTierUnavailable } from '../tiers/tier-unavailable.ts';

/** The results of a walk. */
export interface LifecycleCounts {
  /** Current objects that expired: removed, or hidden behind a delete marker. */
  expired: number;
  /** Noncurrent versions and delete markers that were removed. */
  removed: number;
  aborted: number;
  /** Versions that are due, but locked. */
  locked: number;
  /** Versions that are due, but that a replication target has not got. A later walk removes them, once it has: what it refused needs a resync. */
  waiting: number;
  /** Versions whose body moved to a tier. */
  transitioned: number;
  /** Removals and moves that failed. The next walk repeats them. */
  failed: number;
}

export type LifecycleObjects = Pick<
  ObjectLayer,
  | 'listObjectVersions'
  | 'getObjectTags'
  | 'expireObject'
  | 'transitionObject'
  | 'listMultipartUploads'
  | 'abortMultipartUpload'
>;

interface WalkOptions {
  readonly objects: LifecycleObjects;
  readonly bucket: string;
  readonly evaluation: Evaluation;
  /** The walk begins after this key. */
  readonly after: string;
  readonly counts: LifecycleCounts;
  readonly signal: AbortSignal;
  /** Waits so that reading and removing keep their rates. */
  readonly passed: (read: number, removed: number) => Promise<void>;
  /** Called when all keys up to this one are done. */
  readonly checkpoint: (key: string) => Promise<void>;
  /** The tiers that did not answer, or were full. Nothing more is moved to them. */
  readonly awayTiers: Set<string>;
  /** Called with the first failure of a page. */
  readonly onFailure: (error: unknown, key: string) => void;
}

const PAGE = 1_000;
/** Removals at a time: their commits are flushed together. */
const CONCURRENCY = 16;

/** Moves at a time: each may have parts of 8 MiB in memory. */
const MOVES = 4;
/** The storage classes of bodies that are in no tier. */
const ownClasses: ReadonlySet<string> = new Set(['STANDARD', 'REDUCED_REDUNDANCY']);

/** The versions of a key that the walk has read. */
interface KeyState {
  readonly key: string;
  readonly current: ListedVersion | undefined;
  /** Milliseconds since 1970. */
  newerModified: number;
  versions: number;
  noncurrent: number;
  /** A rule removes all versions: the current one goes last. */
  readonly removesAll: boolean;
  /** A noncurrent version is locked, waits for replication or could not be removed: the current one stays, or else that one would become current. */
  keepsCurrent: boolean;
}

/**
 * Does what the rules ask for in a bucket: the versions of its keys first, then its unfinished uploads. Every removal asks the rules again
 * with the records that its commit expects. Rejects with the reason of the signal, and where the store is away.
 */
export async function walkBucket(options: WalkOptions): Promise<void> {
  await new BucketWalk(options).versions();
  await abortUploads(options);
}

class BucketWalk {
  readonly #options: WalkOptions;
  readonly #hasTags: boolean;
  readonly #prefix: string;
  #state: KeyState | undefined;
  #moves: TransitionObject[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
    const { rules } = options.evaluation;
    this.#hasTags = rules.some(({ filter }) => filter.tags !== undefined);
    this.#prefix = commonPrefix(rules.filter(({ enabled }) => enabled).map(({ filter }) => filter.prefix ?? ''));
  }

  async versions(): Promise<void> {
    const { objects, bucket, after, signal, passed, checkpoint } = this.#options;
    let marker: { readonly key: string; readonly versionId?: string } | undefined = { key: after };
    while (marker !== undefined) {
      signal.throwIfAborted();
      const page = await objects.listObjectVersions({
        bucket,
        prefix: this.#prefix,
        delimiter: '',
        keyMarker: marker.key,
        versionIdMarker: marker.versionId,
        limit: PAGE,
      });
      await passed(page.versions.length, 0);
      const first = this.#state?.key;
      const removals = await this.#removalsOf(page.versions);
      if (page.next === undefined) this.#end(removals.last);
      await this.#run(removals.first);
      await this.#run(removals.last);
      await this.#move();
      marker = page.next;
      // The last key of the page may have more versions: a later walk reads all of them again.
      const done = page.versions.findLast(({ key }) => key !== this.#state?.key)?.key ?? first;
      if (marker !== undefined && done !== undefined && done !== this.#state?.key) await checkpoint(done);
    }
  }

  /** `last` are those that must follow the others of the page. */
  async #removalsOf(versions: readonly ListedVersion[]): Promise<{ first: Removal[]; last: Removal[] }> {
    const removals: { first: Removal[]; last: Removal[] } = { first: [], last: [] };
    for (const version of versions) {
      if (version.key !== this.#state?.key) {
        this.#end(removals.last);
        this.#state = await this.#begin(version);
      }
      const state = this.#state;
      if (version === state.current) this.#planCurrent(state, version, removals.first);
      else this.#planNoncurrent(state, version, removals.first);
      state.newerModified = version.modified;
      state.versions += 1;
    }
    return removals;
  }

  async #begin(version: ListedVersion): Promise<KeyState> {
    const current = version.isLatest ? version : undefined;
    const removesAll = current !== undefined && (await this.#removesAll(current));
    // The newest version is noncurrent where the current one was removed meanwhile: it becomes current.
    const newerModified = Infinity;
    return { key: version.key, current, newerModified, versions: 0, noncurrent: 0, removesAll, keepsCurrent: false };
  }

  /** The tags are read where they decide: the other versions have no tags that would. */
  async #removesAll(current: ListedVersion): Promise<boolean> {
    const { evaluation, objects, bucket } = this.#options;
    if (!isWholeKeyDue(evaluation, factsOf(current))) return false;
    if (current.deleteMarker || !this.#hasTags) return true;
    const { tags } = await objects.getObjectTags(bucket, current.key, current.versionId);
    return isWholeKeyDue(evaluation, { ...factsOf(current), tags });
  }

  #planCurrent(state: KeyState, version: ListedVersion, removals: Removal[]): void {
    const { evaluation } = this.#options;
    if (state.removesAll || version.deleteMarker) return;
    if (dueForCurrent(evaluation, factsOf(version)) === undefined) {
      this.#planMove(version, 'current', (facts) => dueTransition(evaluation, facts));
      return;
    }
    removals.push({
      state,
      kind: 'expired',
      request: {
        isDue: (found) => dueForCurrent(evaluation, { ...factsOf(version), ...found }) !== undefined,
      },
    });
  }

  #planNoncurrent(state: KeyState, version: ListedVersion, removals: Removal[]): void {
    const { evaluation } = this.#options;
    const facts: NoncurrentFacts = {
      ...factsOf(version),
      noncurrentSince: state.newerModified,
      newer: state.noncurrent,
    };
    state.noncurrent += 1;
    if (!state.removesAll && !isNoncurrentDue(evaluation, facts)) {
      this.#planMove(version, 'noncurrent', (found) => dueNoncurrentTransition(evaluation, { ...facts, ...found }));
      return;
    }
    removals.push({
      state,
      kind: 'removed',
      request: {
        versionId: version.versionId,
        isDue: (found) =>
          found.place === 'noncurrent' &&
          found.modified === version.modified &&
          (state.removesAll || isNoncurrentDue(evaluation, { ...facts, ...found })),
      },
    });
  }

  /** Plans the move of a version to the tier that a rule names. A version has the name of its tier as storage class. */
  #planMove(
    version: ListedVersion,
    place: ExpiringVersion['place'],
    tierOf: (facts: VersionFacts) => string | undefined,
  ): void {
    const tier = tierOf(factsOf(version));
    if (tier === undefined || !ownClasses.has(version.storageClass ?? 'STANDARD')) return;
    const { bucket } = this.#options;
    const { key, versionId } = version;
    this.#moves.push({
      bucket,
      key,
      versionId,
      tier,
      isDue: (found) =>
        found.place === place &&
        found.modified === version.modified &&
        tierOf({ ...factsOf(version), ...found }) === tier,
    });
  }

  async #move(): Promise<void> {
    const { objects, counts, signal, passed, onFailure, awayTiers } = this.#options;
    const moves = this.#moves;
    this.#moves = [];
    await mapLimit(moves, MOVES, async (move) => {
      signal.throwIfAborted();
      if (awayTiers.has(move.tier)) return;
      await passed(0, 1);
      try {
        if (await objects.transitionObject(move)) counts.transitioned += 1;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof S3Error || isStoreError(error, 'changed') || isDamage(error))) throw error;
        if (isTierUnavailable(error)) awayTiers.add(move.tier);
        counts.failed += 1;
        onFailure(error, move.key);
      }
    });
  }

  /** Plans what can be decided when all versions of a key are known. */
  #end(removals: Removal[]): void {
    const { evaluation } = this.#options;
    const state = this.#state;
    const current = state?.current;
    if (state === undefined || current === undefined) return;
    this.#state = undefined;
    const { versionId, deleteMarker } = current;
    if (deleteMarker) {
      if (!state.removesAll && dueForMarker(evaluation, factsOf(current), state.versions === 1) === undefined) return;
      removals.push({
        state,
        kind: 'removed',
        request: {
          versionId,
          isDue: (found) =>
            found.place === 'marker' &&
            dueForMarker(evaluation, { ...factsOf(current), ...found }, found.isLone) !== undefined,
        },
      });
    } else if (state.removesAll) {
      removals.push({
        state,
        kind: 'expired',
        request: {
          versionId,
          isDue: (found) =>
            found.place === 'current' && dueForCurrent(evaluation, { ...factsOf(current), ...found }) === 'remove-all',
        },
      });
    }
  }

  async #run(removals: readonly Removal[]): Promise<void> {
    const { objects, bucket, counts, signal, passed, onFailure } = this.#options;
    await mapLimit(removals, CONCURRENCY, async ({ state, kind, request }) => {
      signal.throwIfAborted();
      if (state.keepsCurrent && kind === 'expired') return;
      await passed(0, 1);
      try {
        if (await objects.expireObject(bucket, state.key, request)) counts[kind] += 1;
      } catch (error) {
        if (!(error instanceof S3Error) || error.code === 'ServiceUnavailable') throw error;
        state.keepsCurrent ||= request.versionId !== undefined;
        if (error.code === 'AccessDenied') {
          counts.locked += 1;
          return;
        }
        if (error.code === 'OperationAborted') {
          counts.waiting += 1;
          return;
        }
        counts.failed += 1;
        onFailure(error, state.key);
      }
    });
  }
}

interface Removal {
  readonly state: KeyState;
  readonly kind: 'expired' | 'removed';
  readonly request: ExpireObject;
}

function factsOf({ key, size, modified, deleteMarker }: ListedVersion): VersionFacts {
  return { key, size, modified, deleteMarker, tags: undefined };
}

async function abortUploads(options: WalkOptions): Promise<void> {
  const { objects, bucket, evaluation, counts, signal, passed, onFailure } = options;
  const { rules, now } = evaluation;
  const aborting = rules.filter(({ enabled, abortUploadsDays }) => enabled && abortUploadsDays !== undefined);
  if (aborting.length === 0) return;
  const prefix = commonPrefix(aborting.map(({ filter }) => filter.prefix ?? ''));
  let next: { readonly key: string; readonly uploadId: string } | undefined = { key: '', uploadId: '' };
  while (next !== undefined) {
    signal.throwIfAborted();
    const page = await objects.listMultipartUploads({
      bucket,
      prefix,
      delimiter: '',
      afterKey: next.key,
      afterUploadId: next.uploadId,
      limit: PAGE,
    });
    await passed(page.uploads.length, 0);
    for (const { key, uploadId, initiated } of page.uploads) {
      const due = abortionOf(evaluation, { key, initiated: initiated.getTime() });
      if (due === undefined || due.at > now) continue;
      await passed(0, 1);
      try {
        await objects.abortMultipartUpload(bucket, key, uploadId);
        counts.aborted += 1;
      } catch (error) {
        // It was completed or aborted meanwhile.
        if (error instanceof S3Error && error.code === 'NoSuchUpload') continue;
        if (!(error instanceof S3Error) || error.code === 'ServiceUnavailable') throw error;
        counts.failed += 1;
        onFailure(error, key);
      }
    }
    next = page.next;
  }
}

/** Returns the longest text that all of the texts begin with. */
export function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
