import { randomBytes } from 'node:crypto';
import type { ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';
import { percentEncode, percentEncodePath } from '../../../protocol/uri/percent-encoding.ts';
import { decodeReplication, replicationQueue } from '../../../server/objects/replication/queue-replication.ts';
import { DeliveryError } from '../../../server/outbox/delivery-error.ts';
import { ReplicationDelivery } from '../../../server/replication/replicate-to.ts';
import { TargetStats } from '../../../server/replication/replication-stats.ts';
import { walkForResync } from '../../../server/replication/resync.ts';
import type { StoredTarget } from '../../../server/replication/remote-targets.ts';
import type { TargetAnswer, TargetClient, TargetRequest } from '../../../server/replication/target-client.ts';
import { commitOnce } from '../../../server/store/commits.ts';
import { within } from '../../../server/store/keys.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import type { Entry } from '../../../server/store/record-store.ts';
import { testCalls, type Reply, type TestCalls } from '../s3-api/s3-calls.ts';
import { switchedRecords } from '../store/switched-records.ts';

export const bucket = 'bucket';

/** The time of all servers of a test, in milliseconds since 1970. */
export interface TestClock {
  now: number;
}

/** A server in this process whose bucket `bucket` is replicated to others, as their clocks and links allow. */
export class LinkedServer {
  readonly name: string;
  #calls: TestCalls;
  /** The names of servers that cannot be reached from here. */
  readonly cut = new Set<string>();
  /** Requests that arrived here from other servers. */
  readonly received: string[] = [];
  /** What this server answers itself in place of the request. */
  intercept: ((request: TargetRequest) => TargetAnswer | undefined) | undefined;
  readonly #clock: TestClock;
  readonly #objectLock: boolean;
  readonly #links: Link[] = [];

  private constructor(name: string, calls: TestCalls, clock: TestClock, objectLock: boolean) {
    this.name = name;
    this.#calls = calls;
    this.#clock = clock;
    this.#objectLock = objectLock;
  }

  static async start(name: string, clock: TestClock, objectLock = true): Promise<LinkedServer> {
    return new LinkedServer(name, await emptyCalls(clock, objectLock), clock, objectLock);
  }

  /** The API over what the server has stored. */
  get calls(): TestCalls {
    return this.#calls;
  }

  /** Loses all that is stored, its queues too, and begins again with an empty bucket and the same rules. */
  async lose(): Promise<void> {
    const rules = (await this.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    this.#calls = await emptyCalls(this.#clock, this.#objectLock);
    for (const [at, { to }] of this.#links.entries()) this.#links[at] = await this.#linkTo(to);
    await this.setRules(rules);
  }

  /** Replicates everything to another server, or what the configuration says. */
  async replicateTo(to: LinkedServer, rule: Partial<ReplicationConfiguration['rules'][number]> = {}): Promise<void> {
    this.#links.push(await this.#linkTo(to));
    const known = (await this.calls.layer.getBucketReplication(bucket))?.rules ?? [];
    await this.setRules([...known, { ...everything(to.name, known.length + 1), ...rule }]);
  }

  async #linkTo(to: LinkedServer): Promise<Link> {
    const stored = storedTarget(to.name);
    const { layer, records } = this.calls;
    const signal = new AbortController().signal;
    const stats = await TargetStats.open(records, stored.id);
    const client = this.clientOf(to);
    const log = { warn: () => undefined };
    return { to, stored, delivery: new ReplicationDelivery({ stored, objects: layer, stats, signal, log }, client) };
  }

  /** The id by which the records of other servers name this one as their target. */
  get targetId(): string {
    return storedTarget(this.name).id;
  }

  /** Changes the rules for all servers in the same way; none by default puts all of them back. */
  async changeRules(change: Partial<ReplicationConfiguration['rules'][number]> = {}): Promise<void> {
    await this.setRules(this.#links.map(({ to }, at) => ({ ...everything(to.name, at + 1), ...change })));
  }

  setRules(rules: ReplicationConfiguration['rules']): Promise<void> {
    return this.calls.layer.putBucketReplication(bucket, rules.length === 0 ? undefined : { rules });
  }

  /** One request of a client; the path is of the bucket. */
  call(method: string, key: string, headers: Readonly<Record<string, string>> = {}, body = ''): Promise<Reply> {
    return this.calls.call(method, `/${bucket}/${key}`, { headers, body });
  }

  /** Returns the client of another server by which this one sends. */
  clientOf(to: LinkedServer): Pick<TargetClient, 'send' | 'close'> {
    return { send: (request) => this.#send(to, request), close: () => undefined };
  }

  /** The changes that wait for a server, in the order of their revisions. */
  async queued(to: LinkedServer): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for await (const item of this.calls.records.scan(within('outbox', replicationQueue(storedTarget(to.name).id)))) {
      if (item.kind === 'entry') found.push(item);
    }
    return found.toSorted((one, other) => one.revision - other.revision);
  }

  /**
   * Delivers what waits for the other servers, as far as they take it, and resolves with the number of deliveries. `choose` says which
   * object comes next, `max` after how many deliveries to each server it ends, and `only` names one server.
   */
  async deliver(
    choose: (count: number) => number = () => 0,
    { max = Number.POSITIVE_INFINITY, only }: { readonly max?: number; readonly only?: LinkedServer | undefined } = {},
  ): Promise<number> {
    let delivered = 0;
    for (const { to, delivery } of this.#links) {
      if (only !== undefined && to !== only) continue;
      const last = delivered + max;
      const refused = new Set<string>();
      const partOf = (entry: Entry) => `${decodeReplication(entry).key}?${delivery.partOf(entry)}`;
      while (delivered < last) {
        const first = new Map<string, Entry>();
        for (const entry of await this.queued(to)) {
          const { key } = decodeReplication(entry);
          if (!refused.has(partOf(entry)) && !first.has(key)) first.set(key, entry);
        }
        const entry = [...first.values()][choose(first.size)];
        if (entry === undefined) break;
        try {
          const outcome = await delivery.deliver(entry, false);
          await delivery.settle([outcome], (batch) => this.#remove(entry, batch));
          delivered += 1;
        } catch (error) {
          if (!delivery.isOfEvent(error)) {
            if (error instanceof DeliveryError && error.code === 'unavailable') break;
            throw error;
          }
          refused.add(partOf(entry));
        }
      }
    }
    return delivered;
  }

  /** Sends what a server has lost, as `replicate resync` does. */
  async resync(to: LinkedServer, clock: TestClock): Promise<void> {
    const link = this.#links.find((one) => one.to === to);
    if (link === undefined) throw new Error(`no link to ${to.name}`);
    const { layer: objects, records } = this.calls;
    const stats = await TargetStats.open(records, link.stored.id);
    const ending = new AbortController();
    const target = { ...link.stored.target, resync: { id: `resync-${clock.now}`, before: clock.now + 1 } };
    const walk = walkForResync({
      records,
      objects,
      stored: { ...link.stored, target },
      stats,
      reads: () => Promise.resolve(),
      signal: ending.signal,
      log: { warn: () => undefined },
    });
    while (stats.current.resync?.walked !== true) await new Promise((next) => setImmediate(next));
    ending.abort();
    await walk;
  }

  async #remove(entry: Entry, batch: Parameters<typeof commitOnce>[1]): Promise<boolean> {
    const done = await commitOnce(
      this.calls.records,
      { ...batch, delete: [...(batch.delete ?? []), entry.key] },
      randomBytes,
    );
    return done.kind === 'committed';
  }

  async #send(to: LinkedServer, request: TargetRequest): Promise<TargetAnswer> {
    if (this.cut.has(to.name)) throw new DeliveryError('unavailable', `${to.name} cannot be reached`);
    const { method, key, query = {}, headers = {}, body } = request;
    const instead = to.intercept?.(request);
    if (instead !== undefined) return instead;
    const path = key === undefined ? `/${bucket}` : percentEncodePath(`/${bucket}/${key}`);
    const parameters = Object.entries(query).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
    const chunks =
      body === undefined || Buffer.isBuffer(body)
        ? [body ?? Buffer.of()]
        : await Array.fromAsync(body.chunks, (chunk) => Buffer.from(chunk));
    to.received.push(`${method} ${key ?? ''}?${parameters.join('&')}`);
    const reply = await to.calls.call(method, `${path}?${parameters.join('&')}`, { headers, body: chunks });
    const { status, refusal } = reply;
    const text = refusal === '' ? reply.body : refusal;
    const code = reply.code === undefined ? {} : { 'x-minio-error-code': reply.code };
    return { status, headers: { server: 'Coffer', 'x-amz-request-id': 'R', ...code, ...reply.headers }, text };
  }
}

interface Link {
  readonly to: LinkedServer;
  readonly delivery: ReplicationDelivery;
  readonly stored: StoredTarget;
}

async function emptyCalls(clock: TestClock, objectLock: boolean): Promise<TestCalls> {
  const records = await switchedRecords(new MemoryRecordStore());
  const calls = await testCalls({ layer: { records, clock: () => clock.now } });
  await calls.layer.deleteBucket(bucket);
  await calls.layer.createBucket(bucket, { location: '', objectLock });
  await calls.layer.putBucketVersioning(bucket, { status: 'Enabled' });
  return calls;
}

function everything(name: string, priority: number): ReplicationConfiguration['rules'][number] {
  const { arn } = storedTarget(name).target;
  return {
    id: `to-${name}`,
    enabled: true,
    priority,
    filter: {},
    destination: arn,
    target: arn,
    deletes: true,
    deleteMarkers: true,
    replicaModifications: true,
    existingObjects: true,
  };
}

function storedTarget(name: string): StoredTarget {
  const id = Buffer.from(name.padEnd(16, '-')).toString('hex');
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return {
    id: uuid,
    revision: 1,
    target: {
      arn: `arn:minio:replication::${uuid}:${bucket}`,
      sourceBucket: bucket,
      targetBucket: bucket,
      endpoint: `${name}:9000`,
      healthCheckMs: 60_000,
    },
  } as StoredTarget;
}
