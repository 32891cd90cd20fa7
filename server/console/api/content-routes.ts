import { pipeline } from 'node:stream/promises';
import { Router, type Request, type Response } from 'express';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/object-layer.ts';
import { parseRange, resolveRange } from '../../objects/operations/byte-range.ts';
import type { ConsoleLog } from '../services.ts';
import type { Authorizer } from './authorize.ts';
import { objectPlace, detailsOf } from './object-routes.ts';
import { objectSecurityPolicy } from './browser-security.ts';
import { readable } from '../../../platform/pieces.ts';
import { bodyFrom } from '../../objects/bodies/body-source.ts';

/** A longer content type is not stored. */
const maxContentTypeLength = 255;

/** Streams the bytes of objects in both directions. */
export function contentRoutes(objects: ObjectLayer, authorizer: Authorizer, log: ConsoleLog): Router {
  const router = Router();

  router.get('/buckets/:bucket/content', async (request: Request, response: Response) => {
    const { bucket, key, resource } = objectPlace(request);
    await authorizer.require({ request, response }, 's3:GetObject', resource);
    const object = await objects.getObject(bucket, key);
    const { info } = object;
    const requested = parseRange(ifRangeHolds(request, info.etag) ? request.get('range') : undefined);
    const range = requested === undefined ? { start: 0, end: info.size } : resolveRange(requested, info.size);
    // `response.set` of express would add a charset to the stored type.
    response.setHeader('content-type', info.contentType ?? 'application/octet-stream');
    response.status(requested === undefined ? 200 : 206).set({
      'content-disposition': attachment(fileNameOf(key)),
      'content-length': String(range.end - range.start),
      'accept-ranges': 'bytes',
      etag: `"${info.etag}"`,
      'last-modified': info.lastModified.toUTCString(),
      'cache-control': 'private, no-store',
      'content-security-policy': objectSecurityPolicy,
      ...(info.contentEncoding === undefined ? {} : { 'content-encoding': info.contentEncoding }),
      ...(requested === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.end - 1}/${info.size}` }),
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      await pipeline(readable(object.read(range)), response);
    } catch (error) {
      // The client must not take a partial body for a complete one. A cancelled download is not logged.
      response.destroy();
      if (!isPrematureClose(error)) log.error({ err: error, resource }, 'a download through the console failed');
    }
  });

  router.put('/buckets/:bucket/content', async (request: Request, response: Response) => {
    const { bucket, key, resource } = objectPlace(request);
    const size = declaredSize(request);
    await authorizer.require({ request, response }, 's3:PutObject', resource);
    const info = await objects.putObject({
      bucket,
      key,
      body: bodyFrom(request),
      size,
      digests: {},
      headers: { contentType: contentTypeOf(request), metadata: {} },
      conditions: request.get('if-none-match') === '*' ? { ifNoneMatch: ['*'] } : undefined,
    });
    response.status(201).json(detailsOf(info));
  });

  return router;
}

function declaredSize(request: Request): number {
  const length = request.get('content-length');
  if (length === undefined || !/^\d{1,15}$/.test(length)) throw new S3Error('MissingContentLength');
  return Number(length);
}

function contentTypeOf(request: Request): string {
  const type = request.get('content-type');
  return type === undefined || type.length > maxContentTypeLength ? 'application/octet-stream' : type;
}

/** A resumed download goes on only in the same object. @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5 */
function ifRangeHolds(request: Request, etag: string): boolean {
  const header = request.get('if-range');
  return header === undefined || header === `"${etag}"`;
}

function isPrematureClose(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}

/**
 * `Content-Disposition` that saves under this name: the plain form for old readers, the extended form for every character.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6266 and RFC 8187
 */
export function attachment(name: string): string {
  const file = name.toWellFormed() || 'download';
  // The plain form has no characters outside of printable ASCII, no quotes and no escapes.
  const plain = file.replaceAll(/[^ -~]|["\\%]/g, '_');
  const extended = encodeURIComponent(file).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}

/** Returns the last part of a key that is not empty. */
export function fileNameOf(key: string): string {
  return key.split('/').findLast((part) => part !== '') ?? 'download';
}
