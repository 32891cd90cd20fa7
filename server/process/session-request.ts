import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { DeniedRight, SessionS3Call } from '../console/services.ts';
import type { AccessService } from '../auth/access.ts';
import type { AccessRequest, Decision } from '../auth/principal.ts';
import type { MessageBody } from '../http/message-body.ts';
import type { IncomingRequest } from '../http/contract/request.ts';

/** Remembers the last right that was refused, for the message to the user. */
export class WatchedAccess {
  readonly #access: WatchableAccess;
  denied: DeniedRight | undefined;

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
    if (decision.kind === 'deny') this.denied = { action: request.action, resource: request.resource };
    return decision;
  }
}

/** Returns the request that a call of the session stands for. */
export function requestOf(
  message: IncomingMessage,
  body: MessageBody,
  call: Pick<SessionS3Call, 'requestId' | 'rawQuery' | 'origin' | 'audit'>,
  rawPath: string,
): IncomingRequest {
  return {
    requestId: call.requestId,
    method: message.method ?? 'GET',
    rawPath,
    rawQuery: call.rawQuery,
    headers: headersOf(message.headers),
    body,
    secure: call.origin.secure,
    remoteAddress: call.origin.remoteAddress,
    audit: call.audit,
  };
}

export type WatchableAccess = Pick<AccessService, 'credentials' | 'authorize' | 'explain'> &
  Partial<Pick<AccessService, 'formerRoot'>>;

/** The cookie is the session's, and not for the S3 API. A signature in addition to the session would be a second, unverified claim. */
const ofConsole: ReadonlySet<string> = new Set(['cookie', 'authorization', 'origin', 'x-coffer-console']);

export function headersOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConsole.has(name)));
}
