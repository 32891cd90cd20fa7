import { randomBytes } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { S3Error } from '../../../../protocol/s3/s3-error.ts';
import { answerError } from '../../../http/contract/error-answer.ts';
import type { ConsoleServices } from '../../services.ts';
import { isSecure } from '../request-source.ts';

type Services = Pick<ConsoleServices, 'settings' | 'administration'>;

/** Returns `SVC_SERVER_URL`; without it the S3 port under the name by which the browser reaches the console. */
export function s3EndpointOf({ settings, administration }: Services, request: Request): string {
  if (settings.s3Url !== undefined) return settings.s3Url;
  const port = administration.server.endpoint.split(':').at(-1);
  return `${isSecure(request, settings) ? 'https' : 'http'}://${request.hostname}:${port}`;
}

/**
 * Refuses signed requests of S3 and the admin API by an S3 error that names their address. A client that uses the port of the console would
 * take its page for an answer.
 */
export function refuseSigned(services: Services): RequestHandler {
  return (request, response, next) => {
    if (!isSigned(request)) {
      next();
      return;
    }
    const message = `This is the console. S3 and the admin API are at ${s3EndpointOf(services, request)}.`;
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    const asked = { method: request.method, rawPath: request.path, requestId };
    const { status, headers, body } = answerError(new S3Error('InvalidRequest', message), asked);
    response.status(status).set(headers);
    response.end(body.kind === 'bytes' ? body.bytes : undefined);
  };
}

function isSigned({ headers, query }: Request): boolean {
  if (/^AWS(4-HMAC-SHA256)? /.test(headers.authorization ?? '')) return true;
  return (
    query['X-Amz-Signature'] !== undefined ||
    (query['AWSAccessKeyId'] !== undefined && query['Signature'] !== undefined)
  );
}
