import { FormatError } from '../../protocol/format-error.ts';
import { type IncomingRequest, readWholeBody } from '../http/contract/request.ts';
import type { AuthenticatedPrincipal } from '../auth/principal.ts';
import { identitiesFor } from '../administration/caller.ts';
import type { AdminServices } from '../administration/services.ts';
import { z } from 'zod';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import {
  algorithmOf,
  answerAlgorithmHeader,
  decryptPayload,
  encryptPayload,
  isPayloadAlgorithm,
  type PayloadAlgorithm,
} from '../../protocol/admin/admin-payload.ts';
import { type AuthorizationContext, authorizeRequest, requireRight, type Right } from '../auth/authorize.ts';
import { connectionContext } from '../auth/condition-keys.ts';
import type { AuthenticatedRequest } from '../auth/access.ts';
import { semaphore } from '../../platform/async/concurrency.ts';
import { adminError } from '../administration/admin-error.ts';

/** A call of the admin API. Each subject has a file with its routes. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /**
   * The right that the call needs. Of several names one must be allowed and none denied; an empty list needs no right. `own`: allowed by
   * default for the caller's own account; the call then checks the owner, and asks by `call.require` for other accounts.
   */
  readonly action: string | readonly string[] | ((call: AdminCall) => string | readonly string[]);
  readonly own?: true;
  /** The keys of the key service that the call names. The caller needs the right to each. */
  readonly keys?: (call: AdminCall) => readonly string[];
  /** True for a call about all keys: the caller needs the right to some key, and the answer has those keys alone. */
  readonly someKey?: true;
  readonly serve: (call: AdminCall) => Promise<AdminAnswer>;
  /** True for a call that may read the whole store: spaces keep the connection alive, and errors have status 200. */
  readonly slow?: true;
}

/** A running call. */
export interface AdminCall {
  readonly services: AdminServices;
  readonly request: IncomingRequest;
  readonly principal: AuthenticatedPrincipal;
  readonly query: URLSearchParams;
  /** The groups of the route's path, decoded. */
  readonly parts: readonly string[];
  /** Returns a parameter of the query; throws `XCofferInvalidRequest` if it is missing or empty. */
  required(name: string): string;
  /** Reads the body, of at most `limit` bytes (1 MiB). */
  body(limit?: number): Promise<Buffer>;
  /** Reads a body that the client encrypted under the caller's secret key, except for a session of the console. */
  sealedBody(limit?: number): Promise<Buffer>;
  /** Encrypts an answer under the caller's secret key, by an algorithm that the client reads. */
  seal(answer: Buffer): Promise<Buffer>;
  /** Rejects with `AccessDenied` unless the caller has this right too. Of several names one must be allowed and none denied. */
  require(action: string | readonly string[], resource?: string): Promise<void>;
  /** Reports whether the caller has the right. */
  allows(action: string | readonly string[], resource?: string): Promise<boolean>;
}

export type AdminAnswer =
  | { readonly kind: 'none'; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Encrypted under the caller's secret key. */
  | { readonly kind: 'sealed'; readonly value: Buffer | string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly contentType: string }
  /** Values as lines of JSON, in batches, until the client disconnects or the server stops, which `signal` reports. */
  | { readonly kind: 'lines'; readonly lines: (signal: AbortSignal) => AsyncIterable<readonly object[]> };

export const nothing: AdminAnswer = { kind: 'none' };

export function json(value: unknown): AdminAnswer {
  return { kind: 'json', value };
}

export function sealed(value: unknown): AdminAnswer {
  return { kind: 'sealed', value: JSON.stringify(value) };
}

/** Returns the path of a call of `mc`. New clients use v4 with the same meaning. */
export function adminPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/v[34]/${call}$`);
}

/** Returns the path of a call that only Coffer has. */
export function cofferPath(call: string): RegExp {
  return new RegExp(`^/minio/admin/coffer/v1/${call}$`);
}

/** Returns the current time. */
export function nowOf({ clock }: Pick<AdminServices, 'clock'>): Date {
  return clock === undefined ? new Date() : clock();
}

/** The User-Agent: `MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z`. */
type UserAgent = string | undefined;

/**
 * Reports whether the client uses madmin-go 2 or older. Such clients read only the status of an attachment, and name the description of an
 * access key `comment`.
 */
export function isSecondGeneration(userAgent: UserAgent): boolean {
  const generation = /\bmadmin-go\/v?(\d+)\./.exec(userAgent ?? '')?.[1];
  return generation !== undefined && Number(generation) < 3;
}

/**
 * Reports whether the client reads a list of access keys as plain names. madmin-go does so before 2.1, but always reports 2.0.0; the
 * release of `mc` decides: it has the new form since June 2023.
 */
export function listsNamesAlone(userAgent: UserAgent): boolean {
  if (!isSecondGeneration(userAgent)) return false;
  const release = /\bmc\/RELEASE\.(\d{4}-\d\d)-/.exec(userAgent ?? '')?.[1];
  return release !== undefined && release < '2023-06';
}

/** Reads a JSON body; rejects if it does not match the schema. */
export async function jsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.body(), schema);
}

/** Reads an encrypted JSON body. */
export async function sealedJsonBody<T>(call: AdminCall, schema: z.ZodType<T>): Promise<T> {
  return parsed(await call.sealedBody(), schema);
}

function parsed<T>(body: Buffer, schema: z.ZodType<T>): T {
  const checked = schema.safeParse(jsonOf(body));
  if (checked.success) return checked.data;
  throw adminError(
    'XMinioAdminConfigBadJSON',
    `The body is not what this call takes: ${z.prettifyError(checked.error)}`,
  );
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // The text and the parser's message may contain secrets.
    throw adminError('XMinioAdminConfigBadJSON', 'The body is no JSON.');
  }
}

const maxBodyBytes = 1024 * 1024;

/** Deriving the key takes 64 MiB, so a semaphore bounds the derivations. */
const derivationSemaphore = semaphore(2);

export function createCall(
  services: AdminServices,
  request: IncomingRequest,
  { body, size }: AuthenticatedRequest,
  principal: AuthenticatedPrincipal,
  parts: readonly string[],
): AdminCall {
  const query = new URLSearchParams(request.rawQuery);
  const read = async (maxBytes = maxBodyBytes) => {
    const tooLarge = () => adminError('XCofferInvalidRequest', `The body is longer than ${maxBytes} bytes.`);
    if ((size ?? 0) > maxBytes) throw tooLarge();
    return readWholeBody(body, { maxBytes, tooLarge });
  };
  let algorithm: PayloadAlgorithm | undefined;
  return {
    services: { ...services, identities: identitiesFor(principal, services.identities) },
    request,
    principal,
    query,
    parts,
    required(name) {
      const value = query.get(name);
      if (value !== null && value !== '') return value;
      throw adminError('XCofferInvalidRequest', `The parameter ${name} is missing.`);
    },
    body: read,
    async sealedBody(limit) {
      const payload = await read(limit);
      if (services.plainDocuments === true) return payload;
      const secret = await callerSecret(services, principal);
      try {
        const opened = await derivationSemaphore(() => decryptPayload(secret, payload));
        algorithm = algorithmOf(payload);
        return opened;
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        const message = `The body cannot be decrypted with the secret key of ${principal.accessKey}: ${error.message}.`;
        throw adminError('XCofferInvalidRequest', message, { cause: error });
      }
    },
    async seal(answer) {
      const secret = await callerSecret(services, principal);
      return derivationSemaphore(() => encryptPayload(secret, answer, algorithm ?? askedAlgorithm(request)));
    },
    require: (action, resource = '') => authorizeCall({ services, request, principal }, { action, resource }),
    async allows(action, resource = '') {
      const context = { ...contextOf({ services, request, principal }), audit: undefined };
      const decided = await authorizeRequest(services.access, context, { action, resource });
      return decided?.decision.kind !== 'deny';
    },
  };
}

/** A client that names no algorithm gets the one that every client reads. */
function askedAlgorithm({ headers }: IncomingRequest): PayloadAlgorithm {
  const asked = headers[answerAlgorithmHeader];
  return typeof asked === 'string' && isPayloadAlgorithm(asked) ? asked : 'argon2id-aes';
}

/** Returns the secret key under which the caller encrypts bodies and reads answers. */
async function callerSecret(services: AdminServices, principal: AuthenticatedPrincipal): Promise<string> {
  const { access } = services;
  const signedByFormer = principal.kind === 'root' && principal.former === true;
  const credentials = await (signedByFormer
    ? access.formerRoot?.(principal.accessKey)
    : access.credentials(principal.accessKey));
  // The credentials were removed during the call.
  if (credentials === undefined) throw new S3Error('InvalidAccessKeyId');
  return credentials.secretKey;
}

/** Checks a right of the caller. Of several names one must be allowed and none denied. */
export function authorizeCall(call: CallerRequest, right: Right): Promise<void> {
  return requireRight(call.services.access, contextOf(call), right);
}

/** Checks the rights to what the server does later (`deferred-rights.ts`). */
export async function authorizeAll(call: CallerRequest, rights: readonly Right[]): Promise<void> {
  for (const right of rights) await authorizeCall(call, right);
}

type CallerRequest = Pick<AdminCall, 'services' | 'request' | 'principal'>;

function contextOf({ services, request, principal }: CallerRequest): AuthorizationContext {
  const conditions = conditionsOf({ services, request });
  return { principal, conditions, audit: request.audit };
}

/** Returns the condition keys of the request. */
export function conditionsOf({ services, request }: Pick<AdminCall, 'services' | 'request'>): Right['conditions'] & {} {
  return connectionContext(request, nowOf(services), request.headers['user-agent']);
}
