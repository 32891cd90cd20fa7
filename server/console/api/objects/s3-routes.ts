import { randomBytes } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { percentDecode } from '../../../../protocol/uri/percent-encoding.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { guardHeader, objectSecurityPolicy } from '../browser-security.ts';
import { auditOf } from '../request-audit.ts';
import { originOf } from '../request-source.ts';
import { currentSession } from '../sign-in/current-session.ts';
import { consoleError } from '../console-error.ts';

/**
 * The operations of the S3 API for the page: `/s3/BUCKET?key=KEY&…` with the method, query, headers and body of the operation. The answer is
 * that of S3, and errors are JSON as everywhere in the console.
 *
 * Reads need the header of the console too: no link and no page of another site can open an object here as a document.
 */
export function s3Routes(services: Pick<ConsoleServices, 's3'>, authorizer: Authorizer): Router {
  const router = Router();
  router.all('/s3/:bucket', async (request: Request, response: Response) => {
    if (request.get(guardHeader) === undefined) {
      throw consoleError('CrossSiteRequest', `The header ${guardHeader} is missing.`);
    }
    await answerByS3(services, authorizer, { request, response });
  });
  return router;
}

interface Shown {
  readonly request: Request;
  readonly response: Response;
  /** Headers that replace those of the stored object. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters of the console, which are not for S3. */
  readonly own?: readonly string[];
}

/** Answers a request whose query has the key and the parameters of an S3 operation. */
export async function answerByS3(
  { s3 }: Pick<ConsoleServices, 's3'>,
  authorizer: Authorizer,
  { request, response, headers = {}, own = [] }: Shown,
): Promise<void> {
  const { key, rawQuery } = splitQuery(request.originalUrl, own);
  response.set('content-security-policy', objectSecurityPolicy);
  await s3.serve(request, response, {
    principal: currentSession(response).credentials.principal,
    origin: originOf(request),
    requestId: randomBytes(8).toString('hex').toUpperCase(),
    bucket: bucketOf(request),
    key,
    rawQuery,
    headers: { 'cache-control': 'private, no-store', ...headers },
    audit: auditOf(response),
    explain: (rejected) => authorizer.explain({ request, response }, rejected),
  });
}

/** Splits off the key and the parameters of the console. S3 reads the rest as it came. */
export function splitQuery(
  target: string,
  own: readonly string[] = [],
): { readonly key: string | undefined; readonly rawQuery: string } {
  const question = target.indexOf('?');
  const pairs = question < 0 ? [] : target.slice(question + 1).split('&');
  if (pairs.some((pair) => /^(?:x-amz-|AWSAccessKeyId$)/i.test(nameOf(pair)))) {
    // The session signs in, and conditions of policies must not see another signature.
    throw consoleError('BadRequest', 'A request of the console has no signature in its query.');
  }
  const keys = pairs.filter((pair) => nameOf(pair) === 'key');
  if (keys.length > 1) throw consoleError('BadRequest', 'The request names several keys.');
  return {
    key: keys[0] === undefined ? undefined : new URLSearchParams(keys[0]).get('key') || undefined,
    rawQuery: pairs.filter((pair) => pair !== '' && nameOf(pair) !== 'key' && !own.includes(nameOf(pair))).join('&'),
  };
}

/** Returns the name as S3 decodes it. S3 refuses one that is not valid UTF-8. */
function nameOf(pair: string): string {
  const [sent = ''] = pair.split('=', 1);
  return percentDecode(sent.replaceAll('+', ' ')) ?? sent;
}
