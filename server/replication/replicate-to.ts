import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectLayer, ReplicationOutcome } from '../objects/contract/object-layer.ts';
import { translateFailure } from '../objects/operations/translate-failure.ts';
import { decodeReplication, type QueuedReplication } from '../objects/replication/queue-replication.ts';
import type { Delivery } from '../outbox/deliver-queue.ts';
import { messageOf } from '../../platform/errors/system-error.ts';
import { redactText } from '../../platform/output/redact-secrets.ts';
import { Bandwidth } from './bandwidth.ts';
import { isStoreError } from '../store/store-error.ts';
import type { Entry } from '../store/record-store.ts';
import type { StoredTarget } from './remote-targets.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';
import type { CountedDelivery, TargetStats } from './replication-stats.ts';
import type { Sender } from './send-body.ts';
import { sendVersion } from './send-version.ts';
import { TargetClient } from './target-client.ts';

interface ReplicateOptions {
  readonly stored: StoredTarget;
  readonly objects: Pick<
    ObjectLayer,
    'getObject' | 'headObject' | 'setReplicationStatus' | 'setReplicationStatuses' | 'getBucketReplication'
  >;
  readonly stats: TargetStats;
  readonly signal: AbortSignal;
  readonly log: Pick<StructuredLog, 'warn'>;
}

/** What a delivery leaves to be stored: the new state of the version, and its count. */
interface Settled {
  readonly outcome: ReplicationOutcome | undefined;
  /** Undefined where an earlier attempt was counted. */
  readonly counted: CountedDelivery | undefined;
  /** True where the target has answered. */
  readonly isFromTarget: boolean;
}

/** The delivery of a queue of changes to a remote target. */
export class ReplicationDelivery implements Delivery<Settled> {
  /** Each version is sent by requests of its own. */
  readonly isSeparate = true;
  readonly #options: ReplicateOptions;
  readonly #client: Pick<TargetClient, 'send' | 'close'>;
  readonly #bandwidth: Bandwidth;

  constructor(options: ReplicateOptions, client?: Pick<TargetClient, 'send' | 'close'>) {
    this.#options = options;
    const { stored, signal } = options;
    this.#client = client ?? new TargetClient(stored.target, signal);
    this.#bandwidth = new Bandwidth({ limit: stored.target.bandwidthLimit, signal });
  }

  /** Returns what `settle` stores. */
  async deliver(entry: Entry, isHeld: boolean): Promise<Settled> {
    const queued = decodeReplication(entry);
    const { log } = this.#options;
    let isFromTarget = false;
    const client: Sender['client'] = {
      send: async (request) => {
        const answer = await this.#client.send(request);
        isFromTarget ||= answer.status < 500;
        return answer;
      },
    };
    try {
      const { version, bytes } = await sendVersion(await this.#sender(queued.bucket, client), queued);
      const kind = version?.isRemoved === true ? 'failed' : 'replicated';
      const counted = { kind, bytes, resync: queued.resync } as const;
      if (version === undefined || queued.kind === 'removal') return { outcome: undefined, counted, isFromTarget };
      const outcome: ReplicationOutcome =
        version.isRemoved === true
          ? { ...this.#failed(queued, 'the target has removed the version; a resync sends it again'), isRemoved: true }
          : { ...this.#outcomeOf(queued), status: 'COMPLETED', changed: version.changed };
      return { outcome, counted, isFromTarget };
    } catch (error) {
      if (!this.isOfEvent(error)) throw error;
      const isImpossible = error instanceof DeliveryError && error.code === 'impossible';
      const isGivenUp = isImpossible || queued.resync !== undefined;
      // The first failure of a version counts.
      const failed = { kind: 'failed', bytes: queued.size, resync: queued.resync } as const;
      const counted = isHeld ? undefined : failed;
      if (!isHeld || isGivenUp) {
        await this.#setFailed(queued, error, isGivenUp ? { time: queued.time, isImpossible } : undefined);
      }
      if (isImpossible) {
        const { bucket, key, versionId } = queued;
        log.warn({ event: 'replication-impossible', err: error, bucket, key, versionId }, error.message);
        return { outcome: undefined, counted, isFromTarget };
      }
      // A resync tries once, and ends: the versions of the key that follow must not wait for this one.
      if (queued.resync !== undefined) return { outcome: undefined, counted, isFromTarget };
      if (counted !== undefined) this.#options.stats.count(counted);
      throw error;
    }
  }

  isFromTarget({ isFromTarget }: Settled): boolean {
    return isFromTarget;
  }

  /** A version that is held is FAILED, whatever its failure says. A change of a resync ends: the resync ends with the last of its changes. */
  async onPoisonEvent(entry: Entry, error: unknown): Promise<Settled | undefined> {
    const queued = readable(entry);
    if (queued === undefined) return undefined;
    const { size: bytes, resync, time } = queued;
    const counted = { kind: 'failed', bytes, resync } as const;
    await this.#setFailed(queued, error, resync === undefined ? undefined : { time, isImpossible: false });
    if (resync !== undefined) return { outcome: undefined, counted, isFromTarget: false };
    this.#options.stats.count(counted);
    return undefined;
  }

  async reach(): Promise<void> {
    const { status } = await this.#client.send({ method: 'HEAD' });
    if (status >= 500) throw new DeliveryError('unavailable', `it answered ${status}`, { status });
  }

  /** Counts what leaves the queue, so that a delivery that is repeated counts once. */
  async settle(
    settled: readonly Settled[],
    commit: Parameters<ObjectLayer['setReplicationStatuses']>[1],
  ): Promise<boolean> {
    const { objects, stats } = this.#options;
    const outcomes = settled.flatMap(({ outcome }) => outcome ?? []);
    const isDone = await objects.setReplicationStatuses(outcomes, commit);
    if (isDone) for (const { counted } of settled) if (counted !== undefined) stats.count(counted);
    return isDone;
  }

  async #sender(bucket: string, client: Sender['client']): Promise<Sender> {
    const { objects, stored } = this.#options;
    const rules = await objects.getBucketReplication(bucket).catch((error: unknown) => {
      // The bucket may be gone.
      if (error instanceof S3Error && error.status < 500) return undefined;
      throw error;
    });
    return {
      rules,
      objects,
      client,
      bandwidth: this.#bandwidth,
      targetId: stored.id,
      target: stored.target,
    };
  }

  /** The state of a damaged record cannot be set. */
  async #setFailed(queued: QueuedReplication, error: unknown, givenUp: ReplicationOutcome['givenUp']): Promise<void> {
    if (queued.kind === 'removal') return;
    try {
      await this.#options.objects.setReplicationStatus({
        ...this.#failed(queued, redactText(error instanceof Error ? messageOf(error) : String(error))),
        ...(givenUp && { givenUp }),
      });
    } catch (error) {
      if (!this.isOfEvent(error)) throw error;
    }
  }

  #outcomeOf({ bucket, key, versionId }: QueuedReplication) {
    return { bucket, key, versionId, target: this.#options.stored.id };
  }

  #failed(queued: QueuedReplication, refused: string): ReplicationOutcome {
    return { ...this.#outcomeOf(queued), status: 'FAILED', changed: undefined, refused };
  }

  /** Damage concerns one version too, or else it would stop the replication of all others for good. */
  isOfEvent(error: unknown): boolean {
    if (error instanceof DeliveryError) return error.code !== 'unavailable';
    const failure = translateFailure(error);
    if (failure instanceof S3Error) return failure.code !== 'SlowDown' && failure.code !== 'ServiceUnavailable';
    return (
      !isStoreError(failure, 'connection-lost', 'lease-lost', 'record-file-failed') && !this.#options.signal.aborted
    );
  }

  /**
   * A version has its place by its time and its id, whatever the order in which versions arrive. A server without the extensions of MinIO has them
   * in the order of their arrival, and an entry that cannot be read may be of any version.
   */
  partOf(entry: Entry): string | undefined {
    if (this.#options.stored.target.kind === 's3') return undefined;
    return readable(entry)?.versionId;
  }

  /** A resync ends with what it has queued: it does not wait for an earlier change, which is tried again anyway. */
  behindRefused(entry: Entry): Settled | undefined {
    const queued = readable(entry);
    if (queued?.resync === undefined) return undefined;
    const reason = 'the target refuses an earlier change of the version; once it takes that, a resync sends the rest';
    const { size: bytes, resync } = queued;
    return { outcome: this.#failed(queued, reason), counted: { kind: 'failed', bytes, resync }, isFromTarget: false };
  }

  /** Probes the target again and again, until the signal. */
  async watchHealth(): Promise<void> {
    const { stored, stats, signal } = this.#options;
    let before = Date.now();
    while (!signal.aborted) {
      const began = performance.now();
      const online = await this.reach().then(
        () => true,
        () => false,
      );
      if (signal.aborted) return;
      const now = Date.now();
      const known = stats.current.health ?? { online: true, downtimeMs: 0, outages: 0 };
      const latencyMs = Math.round(performance.now() - began);
      stats.setHealth({
        ...known,
        online,
        ...(online && { lastOnline: now, latencyMs, maxLatencyMs: Math.max(latencyMs, known.maxLatencyMs ?? 0) }),
        outages: known.outages + (known.online && !online ? 1 : 0),
        downtimeMs: known.downtimeMs + (online ? 0 : now - before),
      });
      before = now;
      await sleep(stored.target.healthCheckMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  close(): void {
    this.#client.close();
  }
}

function readable(entry: Entry): QueuedReplication | undefined {
  try {
    return decodeReplication(entry);
  } catch {
    return undefined;
  }
}
