import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { checkBucketName } from '../../../protocol/s3/names.ts';
import type { Bucket, BucketEncryption } from '../../objects/object-layer.ts';
import type { BucketUsage } from '../../observability/usage/usage.ts';
import type { BucketAnswer, BucketList, BucketPermissions, BucketSummary } from '../contract/answers.ts';
import type { ConsoleServices } from '../services.ts';
import { type Gate, readForm, type Visit } from './authorize.ts';
import { ConsoleError } from './console-error.ts';

const encryptionForm = z.discriminatedUnion('scheme', [
  z.strictObject({ scheme: z.literal('SSE-S3') }),
  z.strictObject({ scheme: z.literal('SSE-KMS'), keyName: z.string().trim().min(1).max(80).optional() }),
]);

const bucketForm = z.strictObject({ name: z.string().min(1).max(255), encryption: encryptionForm.optional() });

/** Buckets read at once where each needs a look of its own. */
const breadth = 16;

export function bucketRoutes(services: ConsoleServices, gate: Gate): Router {
  const { objects, settings } = services;
  const router = Router();

  async function summary(visit: Visit, bucket: Bucket): Promise<BucketSummary> {
    const base = { name: bucket.name, created: bucket.created.toISOString() };
    if (!(await gate.allows(visit, 's3:GetEncryptionConfiguration', bucket.name))) {
      return { ...base, encryption: { scheme: 'unknown' } };
    }
    const encryption = await objects.getBucketEncryption(bucket.name);
    return encryption === undefined || encryption.scheme === 'none' ? base : { ...base, encryption };
  }

  /** What the console does not show, it does not change. */
  async function blockedOf(bucket: string) {
    const blocked = (await objects.getBucketEncryption(bucket))?.blocked;
    return blocked && { blocked };
  }

  router.get('/buckets', async (request, response) => {
    const visit = { request, response };
    const shown = await visibleBuckets(visit, gate, await objects.listBuckets());
    const counted = await services.administration.usage?.last();
    const usage = new Map(counted?.buckets.map((bucket) => [bucket.bucket, bucket]));
    response.json({
      buckets: await inTurns(shown, breadth, async (bucket) => ({
        ...(await summary(visit, bucket)),
        ...(await shownUsage(visit, gate, usage.get(bucket.name))),
      })),
      ...(counted && { counted: new Date(counted.ended).toISOString() }),
    } satisfies BucketList);
  });

  router.post('/buckets', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.requireForSome(visit, 's3:CreateBucket');
    const { name, encryption } = await readForm(visit, bucketForm);
    checkBucketName(name);
    await gate.require(visit, 's3:CreateBucket', name, { 's3:locationconstraint': [settings.region] });
    // Before the bucket exists: half of what was asked for would be a bucket without its encryption.
    if (encryption !== undefined) await gate.require(visit, 's3:PutEncryptionConfiguration', name);
    await objects.createBucket(name, { location: settings.region });
    if (encryption !== undefined) await objects.putBucketEncryption(name, asBucketEncryption(encryption));
    response.status(201).json(await summary(visit, await objects.headBucket(name)));
  });

  router.get('/buckets/:bucket', async (request, response) => {
    const name = bucketOf(request);
    const visit = { request, response };
    const may = await permissions(visit, gate, name, prefixOf(request));
    if (!Object.values(may).some(Boolean)) await gate.require(visit, 's3:ListBucket', name);
    const bucket = await objects.headBucket(name);
    response.json({ ...(await summary(visit, bucket)), location: bucket.location, may } satisfies BucketAnswer);
  });

  router.delete('/buckets/:bucket', async (request, response) => {
    const name = bucketOf(request);
    await gate.require({ request, response }, 's3:DeleteBucket', name);
    await objects.deleteBucket(name);
    response.status(204).end();
  });

  router.put('/buckets/:bucket/encryption', async (request: Request, response: Response) => {
    const name = bucketOf(request);
    const visit = { request, response };
    await gate.require(visit, 's3:PutEncryptionConfiguration', name);
    const encryption = await readForm(visit, encryptionForm);
    await objects.putBucketEncryption(name, { ...asBucketEncryption(encryption), ...(await blockedOf(name)) });
    response.status(204).end();
  });

  router.delete('/buckets/:bucket/encryption', async (request, response) => {
    const name = bucketOf(request);
    await gate.require({ request, response }, 's3:PutEncryptionConfiguration', name);
    const blocks = await blockedOf(name);
    if (blocks === undefined) await objects.deleteBucketEncryption(name);
    else await objects.putBucketEncryption(name, { scheme: 'none', ...blocks });
    response.status(204).end();
  });

  return router;
}

/** Whoever may not list all buckets sees those that they may list or locate. */
async function visibleBuckets(visit: Visit, gate: Gate, buckets: readonly Bucket[]): Promise<readonly Bucket[]> {
  if (await gate.allows(visit, 's3:ListAllMyBuckets', '*')) return buckets;
  const seen = await inTurns(
    buckets,
    breadth,
    async ({ name }) =>
      (await gate.allows(visit, 's3:ListBucket', name)) || (await gate.allows(visit, 's3:GetBucketLocation', name)),
  );
  return buckets.filter((_bucket, index) => seen[index] === true);
}

/** Whoever may list a bucket could add up what it holds. */
async function shownUsage(
  visit: Visit,
  gate: Gate,
  usage: BucketUsage | undefined,
): Promise<Pick<BucketSummary, 'usage'>> {
  if (usage === undefined || !(await gate.allows(visit, 's3:ListBucket', usage.bucket))) return {};
  return { usage: { objects: usage.objects, bytes: usage.bytes } };
}

async function permissions(visit: Visit, gate: Gate, bucket: string, prefix: string): Promise<BucketPermissions> {
  const anyObject = `${bucket}/${prefix}*`;
  const listing = { 's3:prefix': [prefix], 's3:delimiter': ['/'] };
  return {
    list: await gate.allows(visit, 's3:ListBucket', bucket, listing),
    read: await gate.allows(visit, 's3:GetObject', anyObject),
    write: await gate.allows(visit, 's3:PutObject', anyObject),
    delete: await gate.allows(visit, 's3:DeleteObject', anyObject),
    deleteBucket: await gate.allows(visit, 's3:DeleteBucket', bucket),
    changeEncryption: await gate.allows(visit, 's3:PutEncryptionConfiguration', bucket),
  };
}

export function bucketOf(request: Request): string {
  const { bucket } = request.params;
  if (typeof bucket !== 'string') throw new ConsoleError('BadRequest', 'The bucket is missing.');
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

/** Maps with so many calls under way at once, in the order of the items; the first failure is the whole's. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  breadth: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += breadth) {
    results.push(...(await Promise.all(items.slice(at, at + breadth).map(map))));
  }
  return results;
}
