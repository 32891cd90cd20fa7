import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { BodyMemory } from '../../platform/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { verifiedBody } from '../auth/verified-body.ts';
import type { AccessService } from '../auth/access.ts';
import type { AccessRequest, Decision } from '../auth/principal.ts';
import type { RefusedRight, SessionS3, SessionS3Call } from '../console/services.ts';
import { createS3Api, type S3Services } from '../s3/s3-api.ts';
import { asS3Error } from '../s3/answers.ts';
import { CrossOrigin } from '../s3/cross-origin.ts';
import type { IncomingRequest } from './contract/request.ts';
import { MessageBody } from './message-body.ts';
import { sendAnswer } from './send-answer.ts';

type Services = Pick<S3Services, 'objects' | 'region' | 'clock' | 'customerKeysWithoutTls'> & {
  readonly access: WatchableAccess;
  /** The shared count of the bodies in memory. */
  readonly bodies?: BodyMemory;
};

/**
 * Runs operations of the S3 API for sessions of the console. The session takes the place of the signature; parsing, authorization, object
 * lock and answers are those of the S3 API, so that the console can do nothing that an S3 client with the same credentials could not do.
 */
export function createSessionS3(services: Services): SessionS3 {
  const crossOrigin = new CrossOrigin(services.objects, []);
  return {
    async serve(message, response, call) {
      const body = new MessageBody(message, response, false, services.bodies);
      const access = new WatchedAccess(services.access);
      const api = createS3Api({
        ...services,
        crossOrigin,
        access,
        authenticate: (request, headers = request.headers) =>
          Promise.resolve({ principal: call.principal, ...verifiedBody(request, headers, undefined) }),
        authenticateForm: () => Promise.resolve(undefined),
      });
      try {
        const answer = await api(requestOf(message, body, call));
        const replaced = { ...answer, headers: { ...answer.headers, ...call.headers } };
        await sendAnswer(message, response, replaced, { requestId: call.requestId });
      } catch (error) {
        const refusal = asS3Error(error);
        if (refusal.code !== 'AccessDenied' || access.refused === undefined || response.headersSent) throw refusal;
        throw new S3Error('AccessDenied', await call.explain(access.refused), { cause: refusal.cause });
      } finally {
        body.release();
      }
    },
  };
}

/** Remembers the last right that was refused, for the message to the user. */
export class WatchedAccess {
  readonly #access: WatchableAccess;
  refused: RefusedRight | undefined;

  constructor(access: WatchableAccess) {
    this.#access = access;
  }

  credentials(accessKey: string) {
    return this.#access.credentials(accessKey);
  }

  formerRoot(accessKey: string) {
    return this.#access.formerRoot?.(accessKey) ?? Promise.resolve(undefined);
  }

  explain(...request: Parameters<AccessService['explain']>) {
    return this.#access.explain(...request);
  }

  async authorize(request: AccessRequest): Promise<Decision> {
    const decision = await this.#access.authorize(request);
    if (decision.kind === 'deny') this.refused = { action: request.action, resource: request.resource };
    return decision;
  }
}

function requestOf(message: IncomingMessage, body: MessageBody, call: SessionS3Call): IncomingRequest {
  return {
    requestId: call.requestId,
    method: message.method ?? 'GET',
    rawPath: pathOf(call),
    rawQuery: call.rawQuery,
    headers: headersOf(message.headers),
    body,
    secure: call.origin.secure,
    remoteAddress: call.origin.remoteAddress,
    ...(call.origin.sharedAddress === undefined ? {} : { sharedAddress: call.origin.sharedAddress }),
    audit: call.audit,
  };
}

function pathOf({ bucket, key }: SessionS3Call): string {
  const path = key === undefined ? '' : `/${encodeURIComponent(key).replaceAll('%2F', '/')}`;
  return `/${encodeURIComponent(bucket)}${path}`;
}

type WatchableAccess = Pick<AccessService, 'credentials' | 'authorize' | 'explain'> &
  Partial<Pick<AccessService, 'formerRoot'>>;

/** The cookie is the session's, and not for the S3 API. A signature in addition to the session would be a second, unverified claim. */
const ofConsole: ReadonlySet<string> = new Set(['cookie', 'authorization', 'origin', 'x-coffer-console']);

export function headersOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConsole.has(name)));
}
