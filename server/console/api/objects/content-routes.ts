import { Router, type Request, type Response } from 'express';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer } from '../authorize.ts';
import { objectPlace } from './object-routes.ts';
import { framedSecurityPolicy } from '../browser-security.ts';
import { answerByS3 } from './s3-routes.ts';
import { consoleError } from '../console-error.ts';

/** The types that a page shows in an element, which runs none of their scripts: images, media, and PDF in the viewer of the browser. */
const viewedTypes: ReadonlySet<string> = new Set([
  ...['png', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'svg+xml', 'x-icon'].map((type) => `image/${type}`),
  ...['mpeg', 'mp4', 'ogg', 'wav', 'webm', 'flac', 'aac'].map((type) => `audio/${type}`),
  ...['mp4', 'webm', 'ogg', 'quicktime'].map((type) => `video/${type}`),
  'application/pdf',
]);

/** Streams the bytes of objects. */
export function contentRoutes(services: Pick<ConsoleServices, 's3'>, authorizer: Authorizer): Router {
  const router = Router();

  /** `view` is the content type under which a preview shows the object. Without it the browser saves the object. */
  router.get('/buckets/:bucket/content', async (request: Request, response: Response) => {
    const { key } = objectPlace(request);
    const { view } = request.query;
    if (view !== undefined && (typeof view !== 'string' || !viewedTypes.has(view))) {
      throw consoleError('BadRequest', 'There is no preview for this content type.');
    }
    const shown: Record<string, string> =
      view === undefined
        ? { 'content-disposition': attachment(fileNameOf(key)) }
        : { 'content-disposition': 'inline', 'content-type': view };
    if (view === 'application/pdf') response.set('x-frame-options', 'SAMEORIGIN');
    const policy: Record<string, string> =
      view === 'application/pdf' ? { 'content-security-policy': framedSecurityPolicy } : {};
    await answerByS3(services, authorizer, { request, response, headers: { ...shown, ...policy }, own: ['view'] });
  });

  return router;
}

export function isPrematureClose(error: unknown): boolean {
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
