import type { RemoteTarget } from '../../protocol/admin/remote-target.ts';
import { targetArn, targetIdOf } from '../../protocol/s3/bucket-replication.ts';
import { type SealedEntry, sealedKey, type SealedRecordStore, sealedWithin } from '../encryption/sealed-records.ts';

export interface StoredTarget {
  readonly id: string;
  readonly target: RemoteTarget;
  readonly revision: number;
}

const table = 'replication-target';

/** The remote targets of all buckets. Their records are sealed, because they have secret keys. */
export class RemoteTargets {
  readonly #records: SealedRecordStore;

  constructor(records: SealedRecordStore) {
    this.#records = records;
  }

  async ofBucket(bucket: string): Promise<readonly StoredTarget[]> {
    return this.#scan(bucket);
  }

  all(): Promise<readonly StoredTarget[]> {
    return this.#scan();
  }

  async get(bucket: string, arn: string): Promise<StoredTarget | undefined> {
    const id = targetIdOf(arn);
    const entry = id === undefined ? undefined : await this.#records.get(sealedKey(table, bucket, id));
    const stored = entry && decode(entry);
    return stored?.target.arn === arn ? stored : undefined;
  }

  /** Adds a target under a new id, and returns its ARN. */
  async add(id: string, target: Omit<RemoteTarget, 'arn'>): Promise<string> {
    const arn = targetArn(id, target.targetBucket);
    await this.#put(id, { ...target, arn });
    return arn;
  }

  /** Returns false where another change came first. */
  replace({ id, revision }: StoredTarget, target: RemoteTarget): Promise<boolean> {
    return this.#put(id, target, { kind: 'revision', revision });
  }

  async remove({ id, target }: StoredTarget): Promise<void> {
    await this.#records.delete(sealedKey(table, target.sourceBucket, id));
  }

  async #put(
    id: string,
    target: RemoteTarget,
    expectation?: Parameters<SealedRecordStore['put']>[2],
  ): Promise<boolean> {
    const key = sealedKey(table, target.sourceBucket, id);
    return (await this.#records.put(key, Buffer.from(JSON.stringify(target)), expectation)) === 'committed';
  }

  async #scan(...bucket: readonly string[]): Promise<readonly StoredTarget[]> {
    const found: StoredTarget[] = [];
    for await (const entry of this.#records.scan(sealedWithin(table, ...bucket))) found.push(decode(entry));
    return found;
  }
}

function decode({ value, revision }: SealedEntry): StoredTarget {
  const target = JSON.parse(value.toString()) as RemoteTarget;
  return { id: targetIdOf(target.arn) ?? '', target, revision };
}
