import type { IncomingHttpHeaders } from 'node:http';
import type { Website } from '../../../protocol/s3/bucket-website.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Answer, IncomingRequest, RequestHandler } from '../../http/contract/request.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { answerWebsiteError } from './website-error.ts';
import { findSite, type SitePlace } from './website-host.ts';
import { findRedirect, type Redirect, redirectAll, redirectOfObject, redirectToFolder } from './website-redirect.ts';
import { asS3Error } from '../../http/contract/error-answer.ts';

export interface WebsiteServices {
  readonly objects: Pick<ObjectLayer, 'getBucketWebsite'>;
  /** The S3 API, which reads the objects for anonymous callers. */
  readonly s3: RequestHandler;
  /** The domains below which hosts name buckets. */
  readonly domains: readonly string[];
}

/**
 * Creates the handler of the websites of buckets. Every object comes by an anonymous request to the S3 API, so that policies, public access
 * blocks, conditions and ranges hold as there. It rejects with the `S3Error` of a request that fails.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteHosting.html
 */
export function createWebsiteHandler({ objects, s3, domains }: WebsiteServices): RequestHandler {
  /** An absent bucket has the same answer as one without a website, so that anonymous clients do not learn which buckets exist. */
  const websiteOf = async (name: string) => {
    try {
      return await objects.getBucketWebsite(name);
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
      throw error;
    }
  };
  const isSite = async (name: string) => (await websiteOf(name)) !== undefined;
  return async (request) => {
    const { method } = request;
    const place = await findSite(request, domains, isSite);
    request.audit?.setOperation('WebsiteRequest', place);
    const website = await websiteOf(place.bucket);
    if (website === undefined) {
      throw new S3Error('NoSuchWebsiteConfiguration', undefined, { details: { BucketName: place.bucket } });
    }
    if (method !== 'GET' && method !== 'HEAD') {
      throw new S3Error('MethodNotAllowed', undefined, { details: { Method: method, ResourceType: 'OBJECT' } });
    }
    const asked = { ...place, host: request.headers.host ?? '', secure: request.secure };
    if (website.kind === 'redirect') return answerRedirect(redirectAll(website, asked));
    const early = findRedirect(website.rules, asked, undefined);
    if (early !== undefined) return answerRedirect(early);
    const isFolder = place.key === '' || place.key.endsWith('/');
    try {
      // A page of path style needs the slash behind the bucket, since its links are relative to it.
      if (isFolder && !request.rawPath.endsWith('/'))
        return answerRedirect({ status: 302, location: `${place.base}/` });
      return await answerObject(s3, request, place, isFolder ? place.key + website.indexSuffix : place.key);
    } catch (error) {
      return answerFailure(s3, request, { website, place, isFolder, asked }, asS3Error(error));
    }
  };
}

interface Failed {
  readonly website: Extract<Website, { readonly kind: 'site' }>;
  readonly place: SitePlace;
  readonly isFolder: boolean;
  readonly asked: Parameters<typeof findRedirect>[1];
}

/** Conditions and ranges are of the object that the caller knows: their errors have no document. */
const withoutDocument: ReadonlySet<number> = new Set([304, 412, 416]);

async function answerFailure(
  s3: RequestHandler,
  request: IncomingRequest,
  { website, place, isFolder, asked }: Failed,
  error: S3Error,
): Promise<Answer> {
  if (withoutDocument.has(error.status)) throw error;
  const isMissing = error.status === 404 || error.status === 403;
  if (isMissing && !isFolder && (await isThere(s3, request, place, `${place.key}/${website.indexSuffix}`))) {
    return answerRedirect(redirectToFolder(place));
  }
  const redirect = findRedirect(website.rules, asked, error.status);
  if (redirect !== undefined) return answerRedirect(redirect);
  if (website.errorKey === undefined || error.status >= 500) throw error;
  request.audit?.setError({ code: error.code, message: error.message });
  try {
    const plain = { ...request, headers: headersOf(request.headers, always) };
    return { ...(await answerObject(s3, plain, place, website.errorKey)), status: error.status };
  } catch (second) {
    return answerWebsiteError(error, request, asS3Error(second));
  }
}

/** Reads an object for the anonymous caller, or redirects to where the object says. */
async function answerObject(
  s3: RequestHandler,
  request: IncomingRequest,
  place: SitePlace,
  key: string,
): Promise<Answer> {
  const answer = await s3(readRequest(request, place.bucket, key));
  const location = answer.headers['x-amz-website-redirect-location'];
  if (location === undefined) return answer;
  if (answer.body.kind === 'chunks') await answer.body.chunks.close();
  return answerRedirect(redirectOfObject(Buffer.from(location, 'latin1').toString(), place));
}

async function isThere(s3: RequestHandler, request: IncomingRequest, place: SitePlace, key: string): Promise<boolean> {
  try {
    const plain = { ...request, method: 'HEAD', headers: headersOf(request.headers, always) };
    await s3(readRequest(plain, place.bucket, key));
    return true;
  } catch (error) {
    if (asS3Error(error).status >= 500) throw error;
    return false;
  }
}

/** Returns the request to the S3 API. It has no signature and no parameters, whatever the caller sent. */
function readRequest(request: IncomingRequest, bucket: string, key: string): IncomingRequest {
  const headers = headersOf(request.headers, [...always, ...ofReads]);
  const rawPath = `/${key.split('/').map(encodeURIComponent).join('/')}`;
  return { ...request, headers, rawPath, rawQuery: '', hostStyle: { kind: 'bucket', bucket } };
}

/** Policies have conditions for them. */
const always = ['host', 'referer', 'user-agent'] as const;
const ofReads = ['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'range'] as const;

function headersOf(headers: IncomingHttpHeaders, names: readonly string[]): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}

function answerRedirect({ status, location }: Redirect): Answer {
  return { status, headers: { location }, body: { kind: 'empty' } };
}
