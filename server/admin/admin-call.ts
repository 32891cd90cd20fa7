import { S3Error } from '../../protocol/s3/s3-error.ts';
import { decryptPayload, PayloadError } from '../../protocol/admin/payload-encryption.ts';
import { decideOneOf, type OneDecided } from '../access/authorize.ts';
import { connectionContext } from '../access/connection-context.ts';
import type { AuthenticatedRequest } from '../access/authenticate.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import type { AuthenticatedPrincipal } from '../access/principal.ts';
import { readWholeBody } from '../access/read-whole-body.ts';
import { AdminError } from './admin-error.ts';
import { limitedTurns } from '../../platform/limited-turns.ts';
import { nowOf } from './now.ts';
import type { AdminCall } from './route.ts';
import type { AdminServices } from './services.ts';

const longestBody = 1024 * 1024;

/** Deriving a key as clients do takes 64 MiB: so many at a time, whoever asks. */
const inTurn = limitedTurns(2);

export function createCall(
  services: AdminServices,
  request: IncomingRequest,
  { body, size }: AuthenticatedRequest,
  principal: AuthenticatedPrincipal,
  parts: readonly string[],
): AdminCall {
  const query = new URLSearchParams(request.rawQuery);
  const read = async (maxBytes = longestBody) => {
    const tooLarge = () => new AdminError('XCofferInvalidRequest', `The body is longer than ${maxBytes} bytes.`);
    if ((size ?? 0) > maxBytes) throw tooLarge();
    return readWholeBody(body, { maxBytes, tooLarge });
  };
  return {
    services,
    request,
    principal,
    query,
    parts,
    required(name) {
      const value = query.get(name);
      if (value !== null && value !== '') return value;
      throw new AdminError('XCofferInvalidRequest', `The parameter ${name} is missing.`);
    },
    body: read,
    async sealedBody(limit) {
      const payload = await read(limit);
      const secret = await secretOf(services, principal);
      try {
        return await inTurn(() => decryptPayload(secret, payload));
      } catch (error) {
        if (!(error instanceof PayloadError)) throw error;
        const message = `The body cannot be decrypted with the secret key of ${principal.accessKey}: ${error.message}.`;
        throw new AdminError('XCofferInvalidRequest', message, { cause: error });
      }
    },
    require: (action, resource = '') => authorizeCall(services, request, principal, { action, resource }),
    async allows(action, resource = '') {
      const decided = await decideCall(services, request, principal, { action, resource });
      return decided?.decision.kind !== 'deny';
    },
  };
}

/** What the caller encrypts under, and is answered under. */
export async function secretOf(services: AdminServices, principal: AuthenticatedPrincipal): Promise<string> {
  const { access } = services;
  const signedByFormer = principal.kind === 'root' && principal.former === true;
  const credentials = await (signedByFormer
    ? access.formerRoot?.(principal.accessKey)
    : access.credentials(principal.accessKey));
  // They were removed while the call was under way.
  if (credentials === undefined) throw new S3Error('InvalidAccessKeyId');
  return credentials.secretKey;
}

interface Asked {
  readonly action: string | readonly string[];
  readonly resource: string;
  readonly own?: boolean;
}

/** Of several actions one must be allowed, and none may be denied by a statement: they are names of one right. */
export async function authorizeCall(
  services: AdminServices,
  request: IncomingRequest,
  principal: AuthenticatedPrincipal,
  asked: Asked,
): Promise<void> {
  const decided = await decideCall(services, request, principal, asked);
  if (decided === undefined) return;
  const { action, decision } = decided;
  request.watch?.decided({ action, resource: asked.resource }, decision);
  if (decision.kind === 'deny') throw new S3Error('AccessDenied', undefined, { cause: new Error(decision.reason) });
}

function decideCall(
  services: AdminServices,
  request: IncomingRequest,
  principal: AuthenticatedPrincipal,
  { action: actions, resource, own }: Asked,
): Promise<OneDecided | undefined> {
  const userAgent = request.headers['user-agent'];
  const context = {
    ...connectionContext(request, nowOf(services)),
    ...(userAgent === undefined ? {} : { 'aws:UserAgent': [userAgent] }),
  };
  const unlessDenied = own === true ? { allowedUnlessDenied: true } : {};
  return decideOneOf([actions].flat(), (action) =>
    services.access.authorize({ principal, action, resource, context, ...unlessDenied }),
  );
}
