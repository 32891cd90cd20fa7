import { z } from 'zod';
import type { LifecycleRule } from '../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { parseLifecycleCopy, writeLifecycleCopy } from '../../protocol/s3/lifecycle/transition-minimum.ts';
import { bucketNameError } from '../../protocol/s3/names.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { bucketDocuments, type BucketPart, documentWriters } from '../administration/bucket-documents.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import type { Item, ItemKey, ItemKind, ItemSource } from './site-items.ts';

const bucketValue = z.object({ objectLock: z.boolean() });

/** The settings that sites share. Notifications, access logs and ACLs name what only their site has. */
const parts = [
  'versioning',
  'objectLock',
  'publicAccessBlock',
  'policy',
  'tags',
  'encryption',
  'cors',
  'quota',
  'website',
  'lifecycle',
] as const satisfies readonly BucketPart[];

type SharedPart = (typeof parts)[number];

interface BucketItemsOptions {
  readonly objects: ObjectLayer;
  readonly region: string;
}

/**
 * Buckets and their settings as items. A setting is the document of its S3 operation. Of lifecycle rules only those that move nothing to a
 * tier are shared: the tiers of other sites have other names.
 */
export class BucketItems implements ItemSource {
  readonly kinds: readonly ItemKind[] = ['bucket', ...parts.map((part) => `bucket-${part}` as const)];
  readonly #objects: ObjectLayer;
  readonly #region: string;

  constructor({ objects, region }: BucketItemsOptions) {
    this.#objects = objects;
    this.#region = region;
  }

  async *list(): AsyncIterable<Item> {
    for (const { name } of await this.#objects.listBuckets()) yield* await this.of(name);
  }

  /** Returns the items of one bucket; none where it is gone. */
  async of(name: string): Promise<readonly Item[]> {
    try {
      const documents = await bucketDocuments(this.#objects, name);
      const lifecycle = sharedRules((await this.#objects.getBucketLifecycle(name)) ?? []);
      return [
        { kind: 'bucket', name, value: { objectLock: documents.has('objectLock') } },
        ...parts.flatMap((part): Item[] => {
          const text =
            part !== 'lifecycle'
              ? documents.get(part)
              : lifecycle.length === 0
                ? undefined
                : writeLifecycleCopy(lifecycle);
          return text === undefined ? [] : [{ kind: `bucket-${part}`, name, value: text }];
        }),
      ];
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return [];
      throw error;
    }
  }

  async read({ kind, name }: ItemKey): Promise<unknown> {
    return (await this.of(name)).find((item) => item.kind === kind)?.value;
  }

  async write({ kind, name }: ItemKey, value: unknown): Promise<void> {
    const issue = bucketNameError(name);
    if (issue !== undefined) throw new S3Error('InvalidBucketName', `The bucket name ${name} ${issue}.`);
    if (kind === 'bucket') return this.#create(name, bucketValue.parse(value));
    const text = z.string().parse(value);
    const part = partOf(kind);
    if (part === 'lifecycle') return this.#putLifecycle(name, text);
    const options = { region: this.#region, notificationTargets: [], requireAll: () => Promise.resolve() };
    await documentWriters(this.#objects, name, options)[part](Buffer.from(text));
  }

  async remove({ kind, name }: ItemKey): Promise<void> {
    try {
      await this.#removers[kind === 'bucket' ? kind : partOf(kind)](name);
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== 'NoSuchBucket') throw error;
    }
  }

  readonly #removers: Readonly<Record<SharedPart | 'bucket', (name: string) => Promise<void>>> = {
    bucket: (name) => this.#objects.deleteBucket(name),
    // Neither can be removed from a bucket.
    versioning: () => Promise.resolve(),
    objectLock: () => Promise.resolve(),
    publicAccessBlock: (name) => this.#objects.putPublicAccessBlock(name, undefined),
    policy: (name) => this.#objects.deleteBucketPolicy(name),
    tags: (name) => this.#objects.deleteBucketTags(name),
    encryption: (name) => this.#objects.deleteBucketEncryption(name),
    cors: (name) => this.#objects.deleteBucketCors(name),
    quota: (name) => this.#objects.putBucketQuota(name, undefined),
    website: (name) => this.#objects.putBucketWebsite(name, undefined),
    lifecycle: (name) => this.#putRules(name, []),
  };

  async #create(name: string, { objectLock }: z.infer<typeof bucketValue>): Promise<void> {
    try {
      await this.#objects.createBucket(name, { location: this.#region, objectLock });
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== 'BucketAlreadyOwnedByYou') throw error;
    }
    await enableVersions(this.#objects, name);
  }

  #putLifecycle(name: string, text: string): Promise<void> {
    return this.#putRules(name, sharedRules(parseLifecycleCopy(text)));
  }

  /** Replaces the shared rules, and keeps those that move to a tier of this site. */
  async #putRules(name: string, shared: readonly LifecycleRule[]): Promise<void> {
    const own = ((await this.#objects.getBucketLifecycle(name)) ?? []).filter((rule) => !isShared(rule));
    const taken = new Set(own.map(({ id }) => id));
    const rules = [...own, ...shared.filter(({ id }) => !taken.has(id))];
    if (rules.length === 0) await this.#objects.deleteBucketLifecycle(name);
    else await this.#objects.putBucketLifecycle(name, rules);
  }
}

/** Replication needs versions. */
export async function enableVersions(
  objects: Pick<ObjectLayer, 'getBucketVersioning' | 'putBucketVersioning'>,
  bucket: string,
): Promise<void> {
  const versioning = await objects.getBucketVersioning(bucket);
  if (versioning?.status === 'Enabled') return;
  await objects.putBucketVersioning(bucket, { ...versioning, status: 'Enabled' });
}

function sharedRules(rules: readonly LifecycleRule[]): readonly LifecycleRule[] {
  return rules.filter(isShared);
}

function isShared({ transition, noncurrentTransition }: LifecycleRule): boolean {
  return transition === undefined && noncurrentTransition === undefined;
}

function partOf(kind: ItemKind): SharedPart {
  return z.enum(parts).parse(kind.slice('bucket-'.length));
}
