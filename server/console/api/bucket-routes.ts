import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { nameRecord } from '../../../protocol/json/name-record.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { locationOf } from '../../../protocol/s3/bucket-location.ts';
import { tagLimits } from '../../../protocol/s3/tagging.ts';
import { checkBucketName } from '../../../protocol/s3/names.ts';
import type { Bucket, BucketEncryption } from '../../objects/contract/object-layer.ts';
import type { BucketUsage } from '../../observability/usage/usage.ts';
import type { BucketAnswer, BucketList, BucketPermissions, BucketSummary } from '../../../protocol/console/answers.ts';
import type { ConsoleServices } from '../services.ts';
import { type Authorizer, readForm, type Exchange } from './authorize.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { consoleError } from './console-error.ts';

const encryptionForm = z.discriminatedUnion('scheme', [
  z.strictObject({ scheme: z.literal('SSE-S3') }),
  z.strictObject({ scheme: z.literal('SSE-KMS'), keyName: z.string().trim().min(1).max(80).optional() }),
]);

/** `expects` is the `encryptionTag` that the page shows. A user who may not read the encryption has none. */
const encryptionQuery = z.object({ expects: z.string().min(1).max(64).optional() });

const bucketForm = z.strictObject({
  name: z.string().min(1).max(255),
  encryption: encryptionForm.optional(),
  versioning: z.boolean().optional(),
  /** Object lock turns versioning on. */
  objectLock: z.boolean().optional(),
  tags: nameRecord(z.string().min(1).max(128), z.string().max(256)).optional(),
});

/** The number of buckets that are read concurrently. */
const bucketConcurrency = 16;

export function bucketRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { objects, settings } = services;
  const router = Router();

  async function summary(exchange: Exchange, bucket: Bucket): Promise<BucketSummary> {
    const base = { name: bucket.name, created: bucket.created.toISOString() };
    if (!(await authorizer.allows(exchange, 's3:GetEncryptionConfiguration', bucket.name))) {
      return { ...base, encryption: { scheme: 'unknown' } };
    }
    // The tag is read first: a change in between makes it an old one, and the change of the user is refused.
    const encryptionTag = await objects.getSettingTag(bucket.name, 'encryption');
    const encryption = await objects.getBucketEncryption(bucket.name);
    if (encryption === undefined) return { ...base, encryptionTag };
    const { bucketKey, blocked, ...shown } = encryption;
    return {
      ...base,
      encryptionTag,
      ...(shown.scheme !== 'none' && { encryption: shown }),
      ...((bucketKey ?? blocked) !== undefined && { encryptionKeeps: { bucketKey, blocked } }),
    };
  }

  /**
   * Writes what a function makes of the fields that the console does not edit, which stay as they are. Throws `PreconditionFailed` where the
   * encryption is not the one that the page showed, or becomes another one before the write.
   */
  async function changeEncryption(
    request: Request,
    bucket: string,
    change: (kept: Pick<BucketEncryption, 'bucketKey' | 'blocked'>) => BucketEncryption | undefined,
  ): Promise<void> {
    const { expects } = encryptionQuery.parse(request.query);
    const seen = expects ?? (await objects.getSettingTag(bucket, 'encryption'));
    const { bucketKey, blocked } = (await objects.getBucketEncryption(bucket)) ?? {};
    const changed = change({ ...(bucketKey !== undefined && { bucketKey }), ...(blocked && { blocked }) });
    const expecting = objects.expecting({ setting: 'encryption', ifMatch: [seen] });
    if (changed === undefined) await expecting.deleteBucketEncryption(bucket);
    else await expecting.putBucketEncryption(bucket, changed);
  }

  router.get('/buckets', async (request, response) => {
    const exchange = { request, response };
    const shown = await visibleBuckets(exchange, authorizer, await objects.listBuckets());
    const counted = await services.administration.usage?.last();
    const usage = new Map(counted?.buckets.map((bucket) => [bucket.bucket, bucket]));
    response.json({
      mayCreate: await authorizer.allowsSome(exchange, 's3:CreateBucket', ''),
      buckets: await mapLimit(shown, bucketConcurrency, async (bucket) => ({
        ...(await summary(exchange, bucket)),
        ...(await shownUsage(exchange, authorizer, usage.get(bucket.name))),
      })),
      ...(counted && { counted: new Date(counted.ended).toISOString() }),
    } satisfies BucketList);
  });

  router.post('/buckets', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.requireForSome(exchange, 's3:CreateBucket');
    const { name, encryption, versioning, objectLock = false, tags = {} } = await readForm(exchange, bucketForm);
    if (Object.keys(tags).length > tagLimits.bucket) {
      throw consoleError('BadRequest', `A bucket has at most ${tagLimits.bucket} tags.`, { field: 'tags' });
    }
    checkBucketName(name);
    await authorizer.require(exchange, 's3:CreateBucket', name, { 's3:locationconstraint': [settings.region] });
    const hasTags = Object.keys(tags).length > 0;
    const needed = [
      ...(encryption === undefined ? [] : ['s3:PutEncryptionConfiguration']),
      ...(versioning === true || objectLock ? ['s3:PutBucketVersioning'] : []),
      ...(objectLock ? ['s3:PutBucketObjectLockConfiguration'] : []),
      ...(hasTags ? ['s3:PutBucketTagging'] : []),
    ];
    // All rights are checked first, so that no bucket is created without its encryption.
    for (const action of needed) await authorizer.require(exchange, action, name);
    await objects.createBucket(name, { location: settings.region, objectLock });
    if (encryption !== undefined) await objects.putBucketEncryption(name, asBucketEncryption(encryption));
    if (versioning === true && !objectLock) await objects.putBucketVersioning(name, { status: 'Enabled' });
    if (hasTags) await objects.putBucketTags(name, tags);
    response.status(201).json(await summary(exchange, await objects.headBucket(name)));
  });

  router.get('/buckets/:bucket', async (request, response) => {
    const name = bucketOf(request);
    const exchange = { request, response };
    const may = await permissions(exchange, authorizer, name, prefixOf(request));
    if (!Object.values(may).some(Boolean)) await authorizer.require(exchange, 's3:ListBucket', name);
    const bucket = await objects.headBucket(name);
    response.json({
      ...(await summary(exchange, bucket)),
      location: locationOf(settings, bucket),
      may,
    } satisfies BucketAnswer);
  });

  router.delete('/buckets/:bucket', async (request, response) => {
    const name = bucketOf(request);
    await authorizer.require({ request, response }, 's3:DeleteBucket', name);
    await objects.deleteBucket(name);
    response.status(204).end();
  });

  router.put('/buckets/:bucket/encryption', async (request: Request, response: Response) => {
    const name = bucketOf(request);
    const exchange = { request, response };
    await authorizer.require(exchange, 's3:PutEncryptionConfiguration', name);
    const encryption = await readForm(exchange, encryptionForm);
    await changeEncryption(request, name, (kept) => ({ ...asBucketEncryption(encryption), ...kept }));
    response.status(204).end();
  });

  router.delete('/buckets/:bucket/encryption', async (request, response) => {
    const name = bucketOf(request);
    await authorizer.require({ request, response }, 's3:PutEncryptionConfiguration', name);
    // A bucket key without a default encryption has nothing to be used for.
    await changeEncryption(request, name, ({ blocked, ...kept }) =>
      blocked === undefined ? undefined : { ...kept, scheme: 'none', blocked },
    );
    response.status(204).end();
  });

  return router;
}

/** Returns all buckets, or those that the user may list or locate. */
export async function visibleBuckets(
  exchange: Exchange,
  authorizer: Authorizer,
  buckets: readonly Bucket[],
): Promise<readonly Bucket[]> {
  if (await authorizer.allows(exchange, 's3:ListAllMyBuckets', '*')) return buckets;
  const seen = await mapLimit(
    buckets,
    bucketConcurrency,
    async ({ name }) =>
      (await authorizer.allows(exchange, 's3:ListBucket', name)) ||
      (await authorizer.allows(exchange, 's3:GetBucketLocation', name)),
  );
  return buckets.filter((_bucket, index) => seen[index] === true);
}

/** A user who may list the bucket may see its usage. */
async function shownUsage(
  exchange: Exchange,
  authorizer: Authorizer,
  usage: BucketUsage | undefined,
): Promise<Pick<BucketSummary, 'usage'>> {
  if (usage === undefined || !(await authorizer.allows(exchange, 's3:ListBucket', usage.bucket))) return {};
  return { usage: { objects: usage.objects, bytes: usage.bytes } };
}

async function permissions(
  exchange: Exchange,
  authorizer: Authorizer,
  bucket: string,
  prefix: string,
): Promise<BucketPermissions> {
  const anyObject = `${bucket}/${prefix}*`;
  const listing = { 's3:prefix': [prefix], 's3:delimiter': ['/'] };
  return {
    list: await authorizer.allows(exchange, 's3:ListBucket', bucket, listing),
    read: await authorizer.allows(exchange, 's3:GetObject', anyObject),
    write: await authorizer.allows(exchange, 's3:PutObject', anyObject),
    delete: await authorizer.allows(exchange, 's3:DeleteObject', anyObject),
    deleteBucket: await authorizer.allows(exchange, 's3:DeleteBucket', bucket),
    changeEncryption: await authorizer.allows(exchange, 's3:PutEncryptionConfiguration', bucket),
  };
}

export function bucketOf(request: Request): string {
  const { bucket } = request.params;
  if (typeof bucket !== 'string') throw consoleError('BadRequest', 'The bucket is missing.');
  if (bucket.length > 255) throw new S3Error('InvalidBucketName');
  return bucket;
}

function prefixOf(request: Request): string {
  const { prefix } = request.query;
  return typeof prefix === 'string' ? prefix.slice(0, 1024) : '';
}

function asBucketEncryption(form: z.infer<typeof encryptionForm>): BucketEncryption {
  if (form.scheme === 'SSE-S3' || form.keyName === undefined) return { scheme: form.scheme };
  return { scheme: form.scheme, keyName: form.keyName };
}
