import { Router } from 'express';
import { z } from 'zod';
import { presignUrl } from '../../../../protocol/sigv4/sign-request.ts';
import { S3Error } from '../../../../protocol/s3/s3-error.ts';
import { timeContext } from '../../../auth/condition-keys.ts';
import type { ShareAnswer } from '../../../../protocol/console/rights.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { objectPlace } from './object-routes.ts';
import { currentSession } from '../sign-in/current-session.ts';
import { s3EndpointOf } from './s3-endpoint.ts';
import { maxLifetime } from './max-lifetime.ts';
import { consoleError } from '../console-error.ts';

/** Seconds: the limit of S3 for a presigned URL. */
const maxSeconds = 7 * 24 * 3600;

const shareQuery = z.object({
  method: z.enum(['GET', 'PUT']).default('GET'),
  seconds: z.coerce.number().int().min(1).max(maxSeconds).default(3600),
  versionId: z.string().min(1).max(64).optional(),
});

type Services = Pick<ConsoleServices, 'settings' | 'clock' | 'administration'>;

/** Makes presigned URLs with the credentials of the session. Who has the link has this one right of the user until it expires. */
export function shareRoutes(services: Services, authorizer: Authorizer): Router {
  const router = Router();
  router.get('/buckets/:bucket/share', async (request, response) => {
    const { bucket, key, resource } = objectPlace(request);
    const { method, seconds, versionId } = shareQuery.parse(request.query);
    if (method === 'PUT' && versionId !== undefined) {
      throw consoleError('BadRequest', 'An upload makes a new version: leave out versionId.');
    }
    const read = versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion';
    const right: LinkRight = { action: method === 'PUT' ? 's3:PutObject' : read, resource, versionId };
    const now = services.clock();
    const exchange = { request, response };
    await requireLink(authorizer, exchange, right, now);
    const { credentials } = currentSession(response);
    const left = Math.floor((expiryOf(credentials.principal) - now.getTime()) / 1000);
    const limit = Math.max(1, Math.min(maxSeconds, left));
    const max = await maxLifetime(limit, (age) =>
      authorizer.allows(exchange, right.action, resource, linkContext(right, now, age)),
    );
    const lifetime = Math.min(seconds, max);
    const base = s3EndpointOf(services, request);
    const url = objectUrl(base, bucket, key, versionId);
    const { region } = services.settings;
    const signed = presignUrl(url, credentials, { region, service: 's3', now, expires: lifetime, method });
    const expires = new Date(now.getTime() + lifetime * 1000).toISOString();
    const limitedBy = max < limit ? 'policy' : left < maxSeconds ? 'session' : 'protocol';
    response.json({ url: signed.href, expires, longest: max, limitedBy } satisfies ShareAnswer);
  });
  return router;
}

interface LinkRight {
  readonly action: string;
  readonly resource: string;
  readonly versionId: string | undefined;
}

/** The condition keys of a request that uses the link when it is this old, in milliseconds. Its address and program are not known yet. */
function linkContext({ versionId }: LinkRight, made: Date, age: number): Record<string, readonly string[]> {
  return {
    ...(versionId === undefined ? {} : { 's3:versionid': [versionId] }),
    ...timeContext(new Date(made.getTime() + age)),
    's3:authType': ['REST-QUERY-STRING'],
    's3:signatureversion': ['AWS4-HMAC-SHA256'],
    's3:signatureAge': [String(age)],
    's3:x-amz-content-sha256': ['UNSIGNED-PAYLOAD'],
  };
}

/** Rejects with AccessDenied if a link would be refused at once. */
async function requireLink(authorizer: Authorizer, exchange: Exchange, right: LinkRight, now: Date): Promise<void> {
  const { action, resource, versionId } = right;
  const byLink = linkContext(right, now, 0);
  const plain = versionId === undefined ? undefined : { 's3:versionid': [versionId] };
  if (
    !(await authorizer.allows(exchange, action, resource, byLink)) &&
    (await authorizer.allows(exchange, action, resource, plain))
  ) {
    const reason = 'a condition on s3:signatureAge, s3:authType or another key of the signature refuses it';
    throw new S3Error('AccessDenied', `Your policies allow ${action} on ${resource}, but not by a link: ${reason}.`);
  }
  await authorizer.require(exchange, action, resource, byLink);
}

/** Milliseconds since 1970; infinite for permanent credentials. */
function expiryOf(principal: object): number {
  return 'expiration' in principal && principal.expiration instanceof Date ? principal.expiration.getTime() : Infinity;
}

/** @throws RequestError BadRequest for a key that URLs cannot have */
export function objectUrl(base: string, bucket: string, key: string, versionId: string | undefined): URL {
  const path = `/${bucket}/${encodeURIComponent(key).replaceAll('%2F', '/')}`;
  const url = new URL(base.replace(/\/+$/, '') + path);
  if (versionId !== undefined) url.searchParams.set('versionId', versionId);
  if (!url.pathname.endsWith(path)) {
    throw consoleError('BadRequest', 'No link can have this key: programs leave "." and ".." out of addresses.');
  }
  return url;
}
