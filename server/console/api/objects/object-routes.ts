import { isUtf8 } from 'node:buffer';
import { Router, type Request } from 'express';
import { z } from 'zod';
import { S3Error } from '../../../../protocol/s3/s3-error.ts';
import type { ListedObject, ObjectInfo, ObjectLayer } from '../../../objects/contract/object-layer.ts';
import type { ObjectDetails, ObjectPage, ObjectRow, PrefixDeletion } from '../../../../protocol/console/answers.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { auditOf } from '../request-audit.ts';
import { checkObjectKey } from '../../../../protocol/s3/names.ts';
import { mapLimit } from '../../../../platform/async/concurrency.ts';
import { consoleError, isConsoleError } from '../console-error.ts';

const listQuery = z.object({
  prefix: z.string().max(1024).default(''),
  after: z.string().max(1024).default(''),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});

const deletionQuery = z.object({
  prefix: z.string().min(1, 'name the folder: an empty prefix would mean the whole bucket').max(1024),
  after: z.string().max(1024).default(''),
});

/** The maximum number of deletions in one call. The browser repeats the call until all objects are deleted. */
const deletionsPerCall = 500;
const deletionConcurrency = 8;
const refusalsShown = 20;

/** Lists, describes and deletes objects. `content-routes` transfers their bytes. */
export function objectRoutes(objects: ObjectLayer, authorizer: Authorizer): Router {
  const router = Router();

  router.get('/buckets/:bucket/objects', async (request, response) => {
    const bucket = bucketOf(request);
    const { prefix, after, limit } = listQuery.parse(request.query);
    await authorizer.require({ request, response }, 's3:ListBucket', bucket, {
      's3:prefix': [prefix],
      's3:delimiter': ['/'],
      's3:max-keys': [String(limit)],
    });
    const page = await objects.listObjects({ bucket, prefix, delimiter: '/', after, limit });
    response.json({
      folders: page.commonPrefixes,
      // The marker object of the folder itself is not a row of it.
      objects: page.objects.filter(({ key }) => key !== prefix || !key.endsWith('/')).map(rowOf),
      next: page.next,
    } satisfies ObjectPage);
  });

  router.get('/buckets/:bucket/object', async (request, response) => {
    const { bucket, key, resource } = objectPlace(request);
    const exchange = { request, response };
    const onlyId = await authorizer.require(exchange, 's3:GetObject', resource);
    const read = () => objects.headObject(bucket, key, { onlyId });
    response.json(detailsOf(await authorizer.hideAbsence(exchange, bucket, read)));
  });

  router.delete('/buckets/:bucket/object', async (request, response) => {
    const { bucket, key, resource } = objectPlace(request);
    const onlyId = await authorizer.require({ request, response }, 's3:DeleteObject', resource);
    await objects.deleteObject(bucket, key, { onlyId });
    response.status(204).end();
  });

  router.delete('/buckets/:bucket/objects', async (request: Request, response) => {
    const bucket = bucketOf(request);
    const { prefix, after } = deletionQuery.parse(request.query);
    const exchange = { request, response };
    await authorizer.require(exchange, 's3:ListBucket', bucket, { 's3:prefix': [prefix] });
    const page = await objects.listObjects({ bucket, prefix, delimiter: '', after, limit: deletionsPerCall });
    const messages = await mapLimit(page.objects, deletionConcurrency, ({ key }) =>
      tryDelete(objects, authorizer, exchange, bucket, key),
    );
    const rejected = page.objects.flatMap(({ key }, index) => {
      const message = messages[index];
      return message === undefined ? [] : [{ key, message }];
    });
    response.json({
      deleted: page.objects.length - rejected.length,
      refused: rejected.slice(0, refusalsShown),
      next: page.next,
    } satisfies PrefixDeletion);
  });

  return router;
}

/** Returns the message of a refusal; undefined if the object was deleted. */
async function tryDelete(
  objects: ObjectLayer,
  authorizer: Authorizer,
  exchange: Exchange,
  bucket: string,
  key: string,
): Promise<string | undefined> {
  const audit = auditOf(exchange.response);
  try {
    const onlyId = await authorizer.require(exchange, 's3:DeleteObject', `${bucket}/${key}`);
    const { versionId } = await objects.deleteObject(bucket, key, { onlyId });
    audit?.addObject({ key, versionId });
    return undefined;
  } catch (error) {
    if (!(error instanceof S3Error) && !isConsoleError(error)) throw error;
    audit?.addObject({ key, refusal: error.code });
    return error.message;
  }
}

function rowOf({
  key,
  size,
  etag,
  modified,
  encrypted,
}: Omit<ListedObject, 'checksum' | 'storageClass' | 'damage'>): ObjectRow {
  return { key, size, lastModified: new Date(modified).toISOString(), etag, encrypted };
}

export function detailsOf(info: ObjectInfo): ObjectDetails {
  const { encryption, checksum, parts, metadata } = info;
  const { contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl, expires, storageClass } =
    info;
  return {
    versionId: info.versionId ?? 'null',
    contentType,
    contentEncoding,
    contentDisposition,
    contentLanguage,
    cacheControl,
    expires,
    storageClass,
    parts,
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, textOfHeader(value)])),
    ...rowOf({ ...info, modified: info.lastModified.getTime(), encrypted: encryption !== undefined }),
    encryption: encryption === undefined ? undefined : schemeOf(encryption),
    checksum: checksum === undefined ? undefined : { algorithm: checksum.algorithm, value: checksum.value },
  };
}

/** A value is stored with one character for each byte. The page shows and edits text. */
function textOfHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

function schemeOf(encryption: NonNullable<ObjectInfo['encryption']>): NonNullable<ObjectDetails['encryption']> {
  if (encryption.scheme !== 'SSE-KMS') return { scheme: encryption.scheme };
  return { scheme: 'SSE-KMS', keyName: encryption.keyName };
}

interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
  /** The resource of policies: `bucket/key`. */
  readonly resource: string;
}

/**
 * The object that a request names. The key is a query parameter: `../x`, `.` and `a//b` are valid keys, and browsers would
 * normalize them in a path.
 */
export function objectPlace(request: Request): ObjectPlace {
  const bucket = bucketOf(request);
  const { key } = request.query;
  if (typeof key !== 'string' || key === '') throw consoleError('BadRequest', 'The key of the object is missing.');
  checkObjectKey(key);
  return { bucket, key, resource: `${bucket}/${key}` };
}
