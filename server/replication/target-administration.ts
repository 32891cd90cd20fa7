import { readVersioningStatus } from '../../protocol/s3/bucket-versioning.ts';
import type { RemoteTarget, RemoteTargetChange, ShownRemoteTarget } from '../../protocol/admin/remote-target.ts';
import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import { randomUUID } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { requirePromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { errorOf, type TargetAnswer, TargetClient } from './target-client.ts';
import { readStats } from './replication-stats.ts';
import { checkRuleOf, kindOfTarget, regionOfBucket } from './plain-s3/target-kind.ts';
import { type RemoteTargets, type StoredTarget } from './remote-targets.ts';
import { DeliveryError } from '../outbox/delivery-error.ts';

interface AdministrationOptions {
  readonly targets: RemoteTargets;
  readonly records: RecordStore;
  readonly objects: Pick<
    ObjectLayer,
    'getBucketVersioning' | 'getObjectLockConfiguration' | 'getBucketReplication' | 'headBucket'
  >;
}

/** The limit of MinIO, in bytes each second. */
const minBandwidth = 100_000_000;

/** Adds, shows, changes and removes remote targets. Errors are `S3Error`s. */
export class TargetAdministration {
  readonly #options: AdministrationOptions;

  constructor(options: AdministrationOptions) {
    this.#options = options;
  }

  /** Lists the targets of a bucket, or of all buckets. */
  async list(bucket: string | undefined): Promise<readonly ShownRemoteTarget[]> {
    const { targets, records, objects } = this.#options;
    if (bucket !== undefined) await objects.headBucket(bucket);
    const stored = bucket === undefined ? await targets.all() : await targets.ofBucket(bucket);
    return Promise.all(
      stored.map(async ({ id, target: { secretKey: _secret, sessionToken: _token, ...target } }) => ({
        target,
        health: (await readStats(records, id)).health,
      })),
    );
  }

  /** Adds a target and resolves with its ARN; that of an earlier one for the same place. The target must be there, and have versions. */
  async add(target: Omit<RemoteTarget, 'arn'>): Promise<string> {
    const { targets } = this.#options;
    const found = await this.#check(target);
    const known = (await targets.ofBucket(target.sourceBucket)).find(({ target: other }) => isSamePlace(other, target));
    return known?.target.arn ?? targets.add(randomUUID(), { ...target, ...found });
  }

  async update(given: RemoteTarget, fields: readonly RemoteTargetChange[]): Promise<string> {
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const stored = await this.#stored(given.sourceBucket, given.arn);
      if (fields.includes('place') && given.targetBucket !== stored.target.targetBucket) {
        throw new S3Error(
          'InvalidRequest',
          `The target is bucket ${stored.target.targetBucket}: its versions are not in ${given.targetBucket.slice(0, 64)}. Add a rule for that bucket, and remove this one.`,
        );
      }
      const target = fields.reduce((before, field) => ({ ...before, ...changeOf(field, given) }), stored.target);
      const { kind: _kind, ...rest } = target;
      const after = { ...rest, ...(await this.#check(target)) };
      for (const rule of (await this.#options.objects.getBucketReplication(given.sourceBucket))?.rules ?? []) {
        if (rule.target === after.arn) checkRuleOf(rule, after);
      }
      if (await this.#options.targets.replace(stored, after)) return after.arn;
    }
    throw new S3Error('SlowDown', 'The target was changed by others at the same time; try again.');
  }

  /** Throws `XMinioAdminRemoteRemoveDisallowed` for a target that a rule names. What waits for it is dropped. */
  async remove(bucket: string, arn: string): Promise<void> {
    const stored = await this.#stored(bucket, arn);
    const rules = (await this.#options.objects.getBucketReplication(bucket))?.rules ?? [];
    if (rules.some(({ target }) => target === arn)) throw new S3Error('XMinioAdminRemoteRemoveDisallowed');
    await this.#options.targets.remove(stored);
  }

  async #stored(bucket: string, arn: string): Promise<StoredTarget> {
    const stored = await this.#options.targets.get(bucket, arn);
    if (stored === undefined) throw new S3Error('XMinioAdminRemoteTargetNotFoundError');
    return stored;
  }

  /** Resolves with what the target says of itself. */
  async #check(target: Omit<RemoteTarget, 'arn'>): Promise<FoundTarget> {
    const { objects, records } = this.#options;
    await requirePromoted(records);
    const { sourceBucket, bandwidthLimit } = target;
    if ((await objects.getBucketVersioning(sourceBucket))?.status !== 'Enabled') {
      throw new S3Error('InvalidRequest', "Versioning must be 'Enabled' on the bucket to add a replication target");
    }
    if (bandwidthLimit > 0 && bandwidthLimit < minBandwidth) {
      throw new S3Error('XMinioAdminReplicationBandwidthLimitError');
    }
    const hasLock = (await objects.getObjectLockConfiguration(sourceBucket)) !== undefined;
    try {
      return await checkTarget(target, hasLock);
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      throw new S3Error(
        'XMinioAdminReplicationRemoteConnectionError',
        `Remote service connection error: ${error.message}`,
        {
          cause: error,
        },
      );
    }
  }
}

/** The answer of a server about itself: its kind, and the region of its bucket where the target names none. */
type FoundTarget = Pick<RemoteTarget, 'kind' | 'region'>;

async function checkTarget(target: Omit<RemoteTarget, 'arn'>, hasLock: boolean): Promise<FoundTarget> {
  const region =
    (await withClient(target, async (client) => {
      const versioning = await client.send({ method: 'GET', query: { versioning: '' } });
      return regionOfBucket(target, versioning);
    })) ?? target.region;
  return withClient({ ...target, region }, async (client) => {
    await checkBucket(client, target, hasLock);
    return { region, ...(await kindOfTarget(client)) };
  });
}

async function withClient<T>(target: Omit<RemoteTarget, 'arn'>, ask: (client: TargetClient) => Promise<T>): Promise<T> {
  const client = new TargetClient({ ...target, arn: '' });
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

async function checkBucket(
  client: TargetClient,
  { endpoint, targetBucket }: Omit<RemoteTarget, 'arn'>,
  hasLock: boolean,
): Promise<void> {
  const bucket = await client.send({ method: 'HEAD' });
  if (bucket.status === 404 && isMarkedAsS3(bucket.headers)) {
    throw new S3Error('RemoteDestinationNotFoundError', undefined, { details: { BucketName: targetBucket } });
  }
  checkAllowed(bucket, endpoint);
  const versioning = await client.send({ method: 'GET', query: { versioning: '' } });
  checkAllowed(versioning, endpoint);
  if (readVersioningStatus(versioning.text) !== 'Enabled') throw new S3Error('RemoteTargetNotVersionedError');
  if (!hasLock) return;
  const lock = await client.send({ method: 'GET', query: { 'object-lock': '' } });
  if (errorOf(lock).code === 'ObjectLockConfigurationNotFoundError')
    throw new S3Error('ReplicationDestinationMissingLockError');
  checkAllowed(lock, endpoint);
}

function checkAllowed(answer: TargetAnswer, endpoint: string): void {
  if (answer.status >= 200 && answer.status < 300) return;
  const { code, message } = errorOf(answer);
  throw new DeliveryError('unavailable', `${endpoint} answered ${answer.status} ${code} ${message}`.trim());
}

function isSamePlace(a: Omit<RemoteTarget, 'arn'>, b: Omit<RemoteTarget, 'arn'>): boolean {
  return a.endpoint === b.endpoint && a.secure === b.secure && a.targetBucket === b.targetBucket;
}

function changeOf(field: RemoteTargetChange, given: RemoteTarget): Partial<RemoteTarget> {
  switch (field) {
    case 'place': {
      const { endpoint, secure, targetBucket, accessKey, secretKey, sessionToken, region } = given;
      return { endpoint, secure, targetBucket, accessKey, secretKey, sessionToken, region };
    }
    case 'bandwidthLimit':
      return { bandwidthLimit: given.bandwidthLimit };
    case 'healthCheckMs':
      return { healthCheckMs: given.healthCheckMs };
    case 'path':
      return { path: given.path };
    case 'disableProxy':
      return { disableProxy: given.disableProxy };
    case 'sync':
      return { sync: given.sync === true };
    default:
      return field satisfies never;
  }
}
