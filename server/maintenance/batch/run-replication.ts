import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../platform/async/backoff.ts';
import { forEachLimit } from '../../../platform/async/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer, VersionListing } from '../../objects/contract/object-layer.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { matchesFacts, matchesPairs } from './batch-filter.ts';
import { type BatchCounts, type BatchJob, isOfTheStores } from './batch-jobs.ts';
import type { BatchRemote, BatchVersion, Transfer } from './batch-remote.ts';
import { keyBelow, type ReplicateDefinition } from './replicate-definition.ts';
import { type RequireOfAsker, rightsToFetch, rightsToSend } from './job-rights.ts';
import { conditionHeaders } from './condition-headers.ts';

interface ReplicationOptions {
  readonly objects: Pick<ObjectLayer, 'listObjectVersions' | 'headObject'>;
  readonly remote: BatchRemote;
  readonly job: BatchJob;
  readonly definition: ReplicateDefinition;
  readonly require: RequireOfAsker;
  readonly signal: AbortSignal;
  readonly passed: (read: number, changed: number) => Promise<void>;
  readonly checkpoint: (progress: BatchCounts & Pick<BatchJob, 'after' | 'failure'>) => Promise<boolean>;
}

const pageSize = 500;
/** Keys that are transferred at a time. */
const concurrency = 8;
/**
 * The versions of one key that are kept to be transferred in their order. More are transferred in several groups: their ids, which the other
 * side keeps, have the order.
 */
const maxOpen = 5_000;
/** The longest pause before a server that is away is asked again. */
const maxUnavailableMs = 30_000;

/**
 * Transfers the versions of a job that match, those of a key from the oldest to the newest. What the other side has already is passed over,
 * so that a page which is read again after an interruption changes nothing. Returns false where the job was cancelled.
 */
export async function runReplicationJob(options: ReplicationOptions): Promise<boolean> {
  const walk = new ReplicationWalk(options);
  const { prefixes } = options.definition;
  const { after = '' } = options.job;
  const begin =
    after === ''
      ? 0
      : Math.max(
          0,
          prefixes.findIndex((prefix) => after.startsWith(prefix)),
        );
  for (const [at, prefix] of prefixes.slice(begin).entries()) {
    if (!(await walk.below(prefix, at === 0 ? after : ''))) return false;
  }
  return true;
}

type Page = Pick<VersionListing, 'next'> & { readonly versions: readonly BatchVersion[] };

class ReplicationWalk {
  readonly #options: ReplicationOptions;
  #counts: Required<BatchCounts>;
  #failure: BatchJob['failure'];

  constructor(options: ReplicationOptions) {
    this.#options = options;
    const { objects, deleteMarkers, failed, bytes = 0, failedBytes = 0, failure } = options.job;
    this.#counts = { objects, deleteMarkers, failed, bytes, failedBytes };
    this.#failure = failure;
  }

  async below(prefix: string, after: string): Promise<boolean> {
    const { signal, passed, checkpoint } = this.#options;
    let marker: Page['next'] = { key: after };
    /** The versions of the last key of a page, which may have more on the next one. */
    let open: BatchVersion[] = [];
    while (marker !== undefined) {
      signal.throwIfAborted();
      const page = await this.#page(prefix, marker);
      await passed(page.versions.length, 0);
      const groups = Map.groupBy([...open, ...page.versions], ({ key }) => key);
      const last = page.next === undefined ? undefined : [...groups.keys()].at(-1);
      open = last === undefined ? [] : (groups.get(last) ?? []);
      if (last !== undefined) groups.delete(last);
      const whole = [...groups.values()];
      await forEachLimit(open.length > maxOpen ? [...whole, open.splice(0)] : whole, concurrency, (versions) =>
        this.#transferKey(versions),
      );
      const done = [...groups.keys()].at(-1);
      const progress = { ...this.#counts, ...(this.#failure && { failure: this.#failure }) };
      if (!(await checkpoint({ ...progress, ...(done !== undefined && { after: done }) }))) return false;
      marker = page.next;
    }
    return true;
  }

  #page(prefix: string, { key, versionId }: NonNullable<Page['next']>): Promise<Page> {
    const { definition, objects, remote } = this.#options;
    if (definition.direction === 'fetch')
      return this.#attempts(() => remote.list({ prefix, keyMarker: key, versionIdMarker: versionId }));
    return objects.listObjectVersions({
      bucket: definition.bucket,
      prefix,
      delimiter: '',
      keyMarker: key,
      versionIdMarker: versionId,
      limit: pageSize,
    });
  }

  /** An S3 keeps no ids of versions: a repetition would add all of them once more. It has the current version alone. */
  async #transferKey(versions: readonly BatchVersion[]): Promise<void> {
    const { remote } = this.#options.definition;
    const wanted = remote.type === 's3' ? versions.filter((one) => one.isLatest && !one.deleteMarker) : versions;
    for (const version of wanted.toReversed()) await this.#transfer(version);
  }

  async #transfer(version: BatchVersion): Promise<void> {
    const { definition, job, passed, require, signal } = this.#options;
    if (!matchesFacts(definition.filter, version, job.started)) return;
    await passed(0, 1);
    try {
      const onlyId = await require(
        (definition.direction === 'send' ? rightsToSend : rightsToFetch)(definition, version),
      );
      this.#count(version, await this.#attempts(() => this.#transferred(version, onlyId)));
    } catch (error) {
      if (error instanceof MaintenanceError || (!isOfRemote(error) && isOfTheStores(error))) throw error;
      signal.throwIfAborted();
      this.#fail(version, error);
    }
  }

  /** Repeats what fails. A server that is away after the last attempt ends the job: everything else would fail too. */
  async #attempts<T>(work: () => Promise<T>): Promise<T> {
    const { definition, signal } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!isOfRemote(error) && isOfTheStores(error)) throw error;
        signal.throwIfAborted();
        const isLast = attempt >= definition.attempts;
        const isAway = isOfRemote(error) && codeOf(error) === 'unavailable';
        if (isLast && isAway) throw new MaintenanceError('remote-unavailable', messageOf(error), { cause: error });
        if (isLast || codeOf(error) === 'impossible') throw error;
        const pause = { firstMs: Math.max(1, definition.delayMs), maxMs: maxUnavailableMs, jitter: 0 };
        await sleep(isAway ? backoffMs(attempt, pause) : definition.delayMs, undefined, { signal });
      }
    }
  }

  async #transferred(version: BatchVersion, onlyId: string | undefined): Promise<Transfer | 'unwanted'> {
    const { definition, remote } = this.#options;
    if (!version.deleteMarker && !(await this.#matchesInfo(version))) return 'unwanted';
    const key = keyBelow(definition.targetPrefix, version.key);
    return definition.direction === 'send' ? remote.send(version, key, onlyId) : remote.fetch(version, key);
  }

  async #matchesInfo(version: BatchVersion): Promise<boolean> {
    const { definition, objects, remote } = this.#options;
    const { tags, metadata } = definition.filter;
    if (tags.length === 0 && metadata.length === 0) return true;
    if (definition.direction === 'fetch') {
      const described = await remote.describe(version, tags.length > 0);
      return described !== undefined && matchesPairs(tags, described.tags) && matchesPairs(metadata, described.headers);
    }
    try {
      const info = await objects.headObject(definition.bucket, version.key, { versionId: version.versionId });
      return matchesPairs(tags, info.tags ?? {}) && matchesPairs(metadata, conditionHeaders(info));
    } catch (error) {
      // It was removed meanwhile, or it is damaged.
      if (error instanceof S3Error && error.status < 500) return false;
      throw error;
    }
  }

  #count({ deleteMarker, size }: BatchVersion, transfer: Transfer | 'unwanted'): void {
    if (transfer !== 'changed') return;
    const { objects, deleteMarkers, bytes } = this.#counts;
    this.#counts = deleteMarker
      ? { ...this.#counts, deleteMarkers: deleteMarkers + 1 }
      : { ...this.#counts, objects: objects + 1, bytes: bytes + size };
  }

  #fail({ key, size }: BatchVersion, error: unknown): void {
    const { failed, failedBytes } = this.#counts;
    this.#counts = { ...this.#counts, failed: failed + 1, failedBytes: failedBytes + size };
    const code = codeOf(error) ?? 'InternalError';
    this.#failure ??= { key, message: `${code}: ${messageOf(error)}`.slice(0, 500) };
  }
}

/** Reports if the other server failed, and not a store of this one. */
function isOfRemote(error: unknown): boolean {
  return error instanceof Error && error.name === 'DeliveryError';
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
