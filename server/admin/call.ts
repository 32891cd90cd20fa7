import { type IncomingRequest, readWholeBody } from '../http/contract/request.ts';
import type { AuthenticatedPrincipal } from '../auth/principal.ts';
import type { AdminServices } from '../administration/services.ts';
import { z } from 'zod';
import { AdminError } from '../administration/admin-error.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { decryptPayload, PayloadError } from '../../protocol/admin-payload.ts';
import { decideOneOf, type OneDecided } from '../auth/authorize.ts';
import { connectionContext } from '../auth/condition-keys.ts';
import type { AuthenticatedRequest } from '../auth/authenticate.ts';
import { limitedTurns } from '../../platform/concurrency.ts';

/** One call of the admin API. The tables of routes stand in the file of their subject. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /**
   * What the caller's policies must allow; of a list, any one, and none may be denied; an empty list asks for none. `own`: everyone may ask it about
   * themselves, unless a policy denies it; the call decides what is theirs, and asks for the right by `call.require` where it is
   * somebody else's.
   */
  readonly action: string | readonly string[] | ((call: AdminCall) => string | readonly string[]);
  readonly own?: true;
  /** The keys of the key service that the call names: the caller needs the right to each. */
  readonly keys?: (call: AdminCall) => readonly string[];
  readonly serve: (call: AdminCall) => Promise<AdminAnswer>;
  /** It may take as long as reading all that is stored: spaces keep the connection alive. A failure is told with status 200. */
  readonly slow?: true;
}

/** A call under way: who asks, what for, and what the answer may need. */
export interface AdminCall {
  readonly services: AdminServices;
  readonly request: IncomingRequest;
  readonly principal: AuthenticatedPrincipal;
  readonly query: URLSearchParams;
  /** The groups of the route's path, percent-decoded. */
  readonly parts: readonly string[];
  /** A parameter of the query; rejects with `InvalidArgument`-like `XCofferInvalidRequest` where it is missing or empty. */
  required(name: string): string;
  /** The body as it is, of at most `limit` bytes (1 MiB). */
  body(limit?: number): Promise<Buffer>;
  /** A body that the client encrypted under the caller's secret key. */
  sealedBody(limit?: number): Promise<Buffer>;
  /** Rejects with `AccessDenied` where the caller's policies do not allow this as well: of several actions one, and none is denied. */
  require(action: string | readonly string[], resource?: string): Promise<void>;
  /** Whether they do. */
  allows(action: string | readonly string[], resource?: string): Promise<boolean>;
}

export type AdminAnswer =
  | { readonly kind: 'none'; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Encrypted under the caller's secret key. */
  | { readonly kind: 'sealed'; readonly value: Buffer | string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly contentType: string }
  /** A line of JSON for each, those together that are there together, until the caller goes away or the server stops: `signal` says so. */
  | { readonly kind: 'lines'; readonly lines: (signal: AbortSignal) => AsyncIterable<readonly object[]> };

export const nothing: AdminAnswer = { kind: 'none' };

export function json(value: unknown): AdminAnswer {
  return { kind: 'json', value };
}

export function sealed(value: unknown): AdminAnswer {
  return { kind: 'sealed', value: JSON.stringify(value) };
}

/** The path of a call that `mc` knows. The newest clients say v4, and mean the same. */
export function adminPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/v[34]/${call}$`);
}

/** The path of a call that is Coffer's own. */
export function cofferPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/coffer/v1/${call}$`);
}

/** The time by the clock of the room's services. */
export function nowOf({ clock }: Pick<AdminServices, 'clock'>): Date {
  return clock === undefined ? new Date() : clock();
}

/** What a client says of itself: `MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z`. */
type UserAgent = string | undefined;

/**
 * Clients of the second generation of the library and before take the answer of attaching by its status alone, and call the description
 * of an access key `comment`. All of the second say 2.0.0.
 */
export function isSecondGeneration(userAgent: UserAgent): boolean {
  const generation = /\bmadmin-go\/v?(\d+)\./.exec(userAgent ?? '')?.[1];
  return generation !== undefined && Number(generation) < 3;
}

/**
 * Clients of that generation take a list of access keys as names alone up to its release 2.1, and cannot read what later ones want, nor
 * the other way round. The library does not say its release; `mc` says its own, and has the later form since the summer of 2023.
 */
export function listsNamesAlone(userAgent: UserAgent): boolean {
  if (!isSecondGeneration(userAgent)) return false;
  const release = /\bmc\/RELEASE\.(\d{4}-\d\d)-/.exec(userAgent ?? '')?.[1];
  return release !== undefined && release < '2023-06';
}

/** Rejects where the body is no JSON of that shape. */
export async function jsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.body(), schema);
}

/** The same, encrypted under the caller's secret key. */
export async function sealedJsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.sealedBody(), schema);
}

function parsed<T>(body: Buffer, schema: z.ZodType<T>): T {
  const checked = schema.safeParse(jsonOf(body));
  if (checked.success) return checked.data;
  throw new AdminError(
    'XMinioAdminConfigBadJSON',
    `The body is not what this call takes: ${z.prettifyError(checked.error)}`,
  );
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // The text may hold secrets: it is not repeated, nor is what the parser says of it.
    throw new AdminError('XMinioAdminConfigBadJSON', 'The body is no JSON.');
  }
}

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
