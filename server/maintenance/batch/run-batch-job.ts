import { setTimeout as sleep } from 'node:timers/promises';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ListedVersion, ObjectLayer } from '../../objects/contract/object-layer.ts';
import type { ExpireDefinition, RotateDefinition } from './batch-definition.ts';
import type { BatchFilter } from './definition-fields.ts';
import { matchesFacts, matchesPairs } from './batch-filter.ts';
import { type RequireOfAsker, rightsToExpire, rightsToRotate } from './job-rights.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { conditionHeaders } from './condition-headers.ts';
import { type BatchCounts, type BatchJob, isOfTheStores } from './batch-jobs.ts';

export type BatchObjects = Pick<
  ObjectLayer,
  'listObjectVersions' | 'headObject' | 'expireObject' | 'getBucketVersioning'
>;

export interface RunOptions {
  readonly objects: BatchObjects;
  readonly job: BatchJob;
  readonly definition: ExpireDefinition | RotateDefinition;
  /** Rotates the key of a version. Returns false where there is nothing to do. */
  readonly rotate: (version: ListedVersion) => Promise<boolean>;
  readonly require: RequireOfAsker;
  /** The key that new objects get. */
  readonly defaultKey: string;
  readonly signal: AbortSignal;
  /** Waits so that reading and changing keep their rates. */
  readonly passed: (read: number, changed: number) => Promise<void>;
  /** Stores the progress: all keys up to this one are done. Returns false where the job was cancelled. */
  readonly checkpoint: (progress: BatchCounts & Pick<BatchJob, 'after' | 'failure'>) => Promise<boolean>;
}

const pageSize = 1_000;
const concurrency = 16;

/** A change of one version. */
interface Step {
  readonly version: ListedVersion;
  readonly run: () => Promise<boolean>;
}

/** The versions of a key, of which the current one comes first. */
interface KeyPlan {
  readonly key: string;
  /** Plans a version, the newest one first. */
  readonly plan: (version: ListedVersion, at: number) => (() => Promise<boolean>) | undefined;
  /** The current version goes last, and only where no older one is left that would become current. */
  last: Step | undefined;
  count: number;
  hasFailed: boolean;
}

/**
 * Walks the versions below the prefixes of a job and changes those that match. Returns false where the job was cancelled. A job that goes on
 * begins after the last key that was done. Rejects with the reason of the signal, and where the store is away.
 */
export async function runBatchJob(options: RunOptions): Promise<boolean> {
  const walk = new BatchWalk(options);
  const { prefixes } = options.definition;
  const { after = '' } = options.job;
  // The prefixes before the one of the last key are done.
  const begin = after === '' ? 0 : prefixes.findIndex((prefix) => after.startsWith(prefix));
  for (const [at, prefix] of prefixes.slice(begin).entries()) {
    if (!(await walk.below(prefix, at === 0 ? after : ''))) return false;
  }
  return true;
}

class BatchWalk {
  readonly #options: RunOptions;
  #counts: BatchCounts;
  #failure: BatchJob['failure'];
  #key: KeyPlan | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    const { objects, deleteMarkers, failed, failure } = options.job;
    this.#counts = { objects, deleteMarkers, failed };
    this.#failure = failure;
  }

  async below(prefix: string, after: string): Promise<boolean> {
    const { objects, definition, signal, passed, checkpoint } = this.#options;
    let marker: { readonly key: string; readonly versionId?: string } | undefined = { key: after };
    while (marker !== undefined) {
      signal.throwIfAborted();
      const page = await objects.listObjectVersions({
        bucket: definition.bucket,
        prefix,
        delimiter: '',
        keyMarker: marker.key,
        versionIdMarker: marker.versionId,
        limit: pageSize,
      });
      await passed(page.versions.length, 0);
      const first = this.#key?.key;
      const { now, last } = await this.#stepsOf(page.versions);
      if (page.next === undefined) this.#end(last);
      await this.#run(now);
      await this.#run(last.filter(({ plan }) => !plan.hasFailed));
      marker = page.next;
      // The last key of a page may have more versions on the next one: a job that goes on reads all of them again.
      const done = page.versions.findLast(({ key }) => key !== this.#key?.key)?.key ?? first;
      const progress = { ...this.#counts, ...(this.#failure && { failure: this.#failure }) };
      const isDone = done !== undefined && done !== this.#key?.key;
      if (!(await checkpoint({ ...progress, ...(isDone && { after: done }) }))) return false;
    }
    return true;
  }

  async #stepsOf(versions: readonly ListedVersion[]) {
    const [now, last]: [PlannedStep[], PlannedStep[]] = [[], []];
    for (const version of versions) {
      if (version.key !== this.#key?.key) {
        this.#end(last);
        this.#key = {
          key: version.key,
          plan: await this.#planOf(version),
          last: undefined,
          count: 0,
          hasFailed: false,
        };
      }
      const plan = this.#key;
      const run = plan.plan(version, plan.count);
      plan.count += 1;
      if (run === undefined) continue;
      if (version.isLatest && this.#options.definition.type === 'expire') plan.last = { version, run };
      else now.push({ version, run, plan });
    }
    return { now, last };
  }

  #end(last: PlannedStep[]): void {
    if (this.#key?.last !== undefined) last.push({ ...this.#key.last, plan: this.#key });
    this.#key = undefined;
  }

  /** Decides with the newest version of a key what happens to all of them. */
  async #planOf(current: ListedVersion): Promise<KeyPlan['plan']> {
    const { definition, objects, job, require, rotate } = this.#options;
    if (definition.type === 'keyrotate') {
      return (version) => {
        if (version.deleteMarker || !version.encrypted || !matchesFacts(definition.filter, version, job.started))
          return undefined;
        return async () => {
          if (!(await this.#matchesInfo(definition.filter, version))) return false;
          await require(rightsToRotate(definition, this.#options.defaultKey));
          return rotate(version);
        };
      };
    }
    // A key without a current version was changed meanwhile.
    if (!current.isLatest) return nothing;
    for (const rule of definition.rules) {
      if ((rule.type === 'deleted') !== current.deleteMarker) continue;
      if (!matchesFacts(rule.filter, current, job.started)) continue;
      if (!current.deleteMarker && !(await this.#matchesInfo(rule.filter, current))) continue;
      return (version, at) => {
        if (at < rule.retainVersions) return undefined;
        const { key, versionId, modified, size } = version;
        // The version that was listed, and no other one that took its place.
        const isDue = (found: { readonly modified: number; readonly size: number }) =>
          found.modified === modified && (version.deleteMarker || found.size === size);
        return async () => {
          await require(rightsToExpire(definition.bucket, version, await this.#isVersioned()));
          return objects.expireObject(definition.bucket, key, { versionId, isDue });
        };
      };
    }
    return nothing;
  }

  /** A bucket whose versions are suspended still has versions. */
  async #isVersioned(): Promise<boolean> {
    return (await this.#options.objects.getBucketVersioning(this.#options.definition.bucket)) !== undefined;
  }

  /** Reads what a listing does not have, where the filter asks for it. */
  async #matchesInfo({ tags, metadata }: BatchFilter, { key, versionId }: ListedVersion): Promise<boolean> {
    if (tags.length === 0 && metadata.length === 0) return true;
    const { objects, definition } = this.#options;
    try {
      const info = await objects.headObject(definition.bucket, key, { versionId });
      return matchesPairs(tags, info.tags ?? {}) && matchesPairs(metadata, conditionHeaders(info));
    } catch (error) {
      // It was removed meanwhile, or it is damaged.
      if (error instanceof S3Error && error.code !== 'ServiceUnavailable') return false;
      throw error;
    }
  }

  async #run(steps: readonly PlannedStep[]): Promise<void> {
    await mapLimit(steps, concurrency, async ({ plan, version, run }) => {
      await this.#options.passed(0, 1);
      const changed = await this.#attempts(version, run);
      const { objects, deleteMarkers, failed } = this.#counts;
      if (changed === 'failed') plan.hasFailed = true;
      if (changed === 'failed') this.#counts = { ...this.#counts, failed: failed + 1 };
      else if (changed === 'changed' && version.deleteMarker)
        this.#counts = { ...this.#counts, deleteMarkers: deleteMarkers + 1 };
      else if (changed === 'changed') this.#counts = { ...this.#counts, objects: objects + 1 };
    });
  }

  async #attempts({ key }: ListedVersion, run: () => Promise<boolean>): Promise<'changed' | 'same' | 'failed'> {
    const { signal, definition } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return (await run()) ? 'changed' : 'same';
      } catch (error) {
        if (isOfTheStores(error) || error instanceof MaintenanceError) throw error;
        const code = error instanceof S3Error ? error.code : 'InternalError';
        // A lock does not end within the job.
        if (code === 'AccessDenied' || attempt >= definition.attempts) {
          const message = error instanceof Error ? error.message : String(error);
          this.#failure ??= { key, message: `${code}: ${message}`.slice(0, 500) };
          return 'failed';
        }
        await sleep(definition.delayMs, undefined, { signal });
      }
    }
  }
}

const nothing: KeyPlan['plan'] = () => undefined;

interface PlannedStep extends Step {
  readonly plan: KeyPlan;
}
