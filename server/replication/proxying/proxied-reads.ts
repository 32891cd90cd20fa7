import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { outboxKeys } from '../../objects/events/outbox.ts';
import { parseTagging } from '../../../protocol/s3/tagging.ts';
import { isVersionId } from '../../../protocol/s3/names.ts';
import type {
  ProxiedAnswer,
  ProxiedRead,
  ProxiedTags,
  ProxiedTagsRead,
} from '../../objects/replication/proxied-read.ts';
import { replicationQueue } from '../../objects/replication/queue-replication.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { isStoreError } from '../../store/store-error.ts';
import { ProxiedBody } from './proxied-body.ts';
import type { ProxiedCounts } from './proxied-counts.ts';
import type { RemoteTargets, StoredTarget } from '../remote-targets.ts';
import { errorOf, type OpenAnswer, type TargetAnswer, TargetClient } from '../target-client.ts';

const knownStatuses: readonly ProxiedAnswer['status'][] = [200, 206, 304, 412, 416];

interface ProxiedReadsOptions {
  readonly targets: Pick<RemoteTargets, 'get'>;
  readonly records: Pick<RecordStore, 'scan'>;
  readonly objects: Pick<ObjectLayer, 'getBucketReplication' | 'getBucketVersioning'>;
  /** Throws `StoreError` unpromoted where another store may act for this deployment. */
  readonly requirePromoted: () => Promise<void>;
  readonly counts: Pick<ProxiedCounts, 'count'>;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
  /** Milliseconds until the header of an answer. */
  readonly answerMs?: number;
  readonly maxInFlight?: number;
}

/** Milliseconds for which a target that did not answer is not asked again: a read of an absent object would wait for it each time. */
const pauseMs = 5_000;

/**
 * Asks the remote targets of a bucket for what is not here yet, so that clients of two servers that replicate to each other read what
 * one of them has. The targets are asked with their own credentials: the caller must be authorized before.
 */
export class ProxiedReads {
  readonly #options: ProxiedReadsOptions;
  readonly #clients = new Map<string, { readonly revision: number; readonly client: TargetClient }>();
  readonly #pausedUntil = new Map<string, number>();
  #inFlight = 0;

  constructor(options: ProxiedReadsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with undefined where no target has the object, may be asked, or answers in time.
   *
   * @throws StoreError `unpromoted` where a target would be asked: what it has is not absent
   */
  async read(asked: ProxiedRead): Promise<ProxiedAnswer | undefined> {
    return this.#firstOf(asked, (stored) => this.#ask(stored, asked));
  }

  /** Reads the tags of an object. Resolves with undefined, and rejects, as `read` does. */
  async readTags(asked: ProxiedTagsRead): Promise<ProxiedTags | undefined> {
    return this.#firstOf(asked, (stored) => this.#askForTags(stored, asked));
  }

  async #firstOf<T>(
    asked: ProxiedTagsRead,
    ask: (stored: StoredTarget) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      const targets = await this.#targetsOf(asked);
      if (targets.length > 0) await this.#options.requirePromoted();
      for (const stored of targets) {
        const answer = await ask(stored);
        if (answer !== undefined) return answer;
      }
    } catch (error) {
      if (isStoreError(error, 'unpromoted')) throw error;
      // The store failed, or a target cannot be unsealed: the answer is the one of this server alone.
    }
    return undefined;
  }

  /**
   * Returns the targets that a rule for the key names. A rule with tags counts too, since the object may have them. A target with a rule that does
   * not replicate removals does not, whatever its other rules say: what was removed here for good would still be read.
   */
  async #targetsOf({ bucket, key }: ProxiedTagsRead): Promise<readonly StoredTarget[]> {
    const { objects, targets } = this.#options;
    const configuration = await objects.getBucketReplication(bucket);
    if (configuration === undefined) return [];
    if ((await objects.getBucketVersioning(bucket))?.status !== 'Enabled') return [];
    const rules = configuration.rules.filter(({ enabled, filter }) => enabled && key.startsWith(filter.prefix ?? ''));
    const keeping = new Set(rules.filter(({ deletes }) => !deletes).map(({ target }) => target));
    const found: StoredTarget[] = [];
    for (const arn of new Set(rules.map(({ target }) => target))) {
      if (keeping.has(arn)) continue;
      const stored = await targets.get(bucket, arn);
      if (stored !== undefined && mayBeAsked(stored) && !this.#isPaused(stored.id)) found.push(stored);
    }
    return found;
  }

  #isPaused(id: string): boolean {
    return (this.#pausedUntil.get(id) ?? 0) > this.#now();
  }

  #now(): number {
    return this.#options.clock?.() ?? performance.now();
  }

  async #ask(stored: StoredTarget, asked: ProxiedRead): Promise<ProxiedAnswer | undefined> {
    const { maxInFlight = 64 } = this.#options;
    // A removal that the target has not got yet: the version is there, and must not be read any more.
    if (this.#inFlight >= maxInFlight || (await this.#hasChanges(stored, asked))) return undefined;
    this.#inFlight += 1;
    let body: ProxiedBody | undefined;
    let failed = true;
    try {
      const answer = await this.#open(stored, asked);
      const status = knownStatuses.find((known) => known === answer.status);
      failed = status === undefined && answer.status !== 404 && answer.status !== 405;
      if (answer.status >= 500) this.#pause(stored.id);
      const size = sizeOf(answer);
      if (asked.method === 'GET' && (status === 200 || status === 206) && size !== undefined) {
        body = new ProxiedBody(answer, () => (this.#inFlight -= 1));
        return { status, headers: headersOf(answer), code: undefined, size, body };
      }
      const whole = await answer.whole();
      if (status === undefined) return undefined;
      return { status, headers: headersOf(answer), code: codeOf(whole), size: size ?? 0, body };
    } catch {
      failed = true;
      this.#pause(stored.id);
      return undefined;
    } finally {
      if (body === undefined) this.#inFlight -= 1;
      this.#options.counts.count(stored.id, asked.method, failed);
    }
  }

  async #askForTags(stored: StoredTarget, asked: ProxiedTagsRead): Promise<ProxiedTags | undefined> {
    const { maxInFlight = 64 } = this.#options;
    if (this.#inFlight >= maxInFlight || (await this.#hasChanges(stored, asked))) return undefined;
    this.#inFlight += 1;
    let failed = true;
    try {
      const open = await this.#open(stored, { ...asked, method: 'GET', headers: {} }, { tagging: '' });
      const answer = await open.whole();
      failed = answer.status !== 200 && answer.status !== 404 && answer.status !== 405;
      if (answer.status >= 500) this.#pause(stored.id);
      if (answer.status !== 200) return undefined;
      const { 'x-amz-version-id': versionId } = headersOf(open);
      const tags = parseTagging(answer.text, 'object');
      return { tags, versionId: versionId !== undefined && isVersionId(versionId) ? versionId : undefined };
    } catch {
      failed = true;
      this.#pause(stored.id);
      return undefined;
    } finally {
      this.#inFlight -= 1;
      this.#options.counts.count(stored.id, 'tags', failed);
    }
  }

  #pause(id: string): void {
    this.#pausedUntil.set(id, this.#now() + pauseMs);
  }

  async #hasChanges(stored: StoredTarget, asked: ProxiedTagsRead): Promise<boolean> {
    const range = outboxKeys.ofObject(replicationQueue(stored.id), asked);
    for await (const _change of this.#options.records.scan({ ...range, limit: 1 })) return true;
    return false;
  }

  /** Rejects unless the header of the answer comes in time. */
  async #open(
    stored: StoredTarget,
    {
      method,
      key,
      versionId,
      partNumber,
      headers,
    }: Omit<ProxiedRead, 'partNumber'> & { readonly partNumber?: string | undefined },
    subresource: Readonly<Record<string, string>> = {},
  ): Promise<OpenAnswer> {
    const { answerMs = 2_000 } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), answerMs);
    try {
      return await this.#clientOf(stored).open({
        method,
        key,
        query: {
          ...subresource,
          ...(versionId !== undefined && { versionId }),
          ...(partNumber !== undefined && { partNumber }),
        },
        headers: { ...headers, 'x-minio-source-proxy-request': 'true', 'x-amz-checksum-mode': 'ENABLED' },
        signal: late.signal,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  #clientOf({ id, revision, target }: StoredTarget): TargetClient {
    const known = this.#clients.get(id);
    if (known?.revision === revision) return known.client;
    // The old client ends when its last answer was read: it keeps no connection for longer than some seconds.
    const client = new TargetClient(target);
    this.#clients.set(id, { revision, client });
    return client;
  }
}

/** A server without the extensions of MinIO has other ids of versions, and would ask other servers in turn. */
function mayBeAsked({ target: { disableProxy, kind } }: StoredTarget): boolean {
  return !disableProxy && kind === undefined;
}

function sizeOf({ headers }: OpenAnswer): number | undefined {
  const text = headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function headersOf({ headers }: OpenAnswer): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') found[name] = value;
  return found;
}

/** Returns the code of an error; undefined for an answer without a document, such as that of a HEAD. */
function codeOf(answer: TargetAnswer): string | undefined {
  return answer.text === '' ? undefined : errorOf(answer).code;
}
