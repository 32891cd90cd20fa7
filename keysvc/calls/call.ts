import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../protocol/key-service/identity.ts';
import type { Route } from '../../protocol/key-service/routes.ts';
import type { Authorizer } from './authorizer.ts';
import type { AuditLog, ErrorLog } from './event-logs.ts';
import type { EventSource } from './event-logs.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import type { z } from 'zod';
import { callError, rejectedCall } from './call-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** The dependencies of the calls. */
export interface Service {
  readonly keyring: Keyring;
  readonly authorizer: Authorizer;
  readonly audit: AuditLog;
  readonly errors: ErrorLog;
  readonly metrics: ServiceMetrics;
  /** The timeout of a call in milliseconds; undefined for a call that never ends. */
  readonly timeoutOf: (route: Route) => number | undefined;
  /** Reports whether a call needs no certificate. */
  readonly isOpen: (route: Route) => boolean;
  /** Reports whether data was sealed under a key, as its canaries in the configuration say. */
  readonly hasSealed: (name: string) => boolean;
  readonly startedAt: number;
  readonly version: string;
  readonly commit: string;
  readonly now: () => number;
  /** Reports whether the service is about to stop. It still answers, but is not ready. */
  readonly leaving: () => boolean;
}

/** One authorized request. */
export interface Call {
  readonly service: Service;
  readonly route: Route;
  /** The name, pattern or identity at the end of the path. */
  readonly argument: string;
  /** Absent where the call needs no certificate. */
  readonly identity: Identity | undefined;
  readonly request: IncomingMessage;
}

/** An answer with the status 200. */
export type Answer =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly body: object }
  | { readonly kind: 'lines'; readonly text: string }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  /** A stream of events without an end. */
  | { readonly kind: 'events'; readonly source: EventSource };

export type Handler = (call: Call) => Promise<Answer>;

export const empty: Answer = { kind: 'empty' };

export function json(body: object): Answer {
  return { kind: 'json', body };
}

/** Writes one JSON line for each item. */
export function lines(items: readonly object[]): Answer {
  return { kind: 'lines', text: items.map((item) => `${JSON.stringify(item)}\n`).join('') };
}

/**
 * The creation fields of what the configuration defines. The protocol demands them, so they are the start of the service and its superuser.
 */
export function madeBy({ startedAt, authorizer }: Service): { created_at: string; created_by: string } {
  return { created_at: new Date(startedAt).toISOString(), created_by: authorizer.admin ?? '' };
}

/**
 * Reads the JSON body of a request; an empty one counts as `{}`.
 *
 * @throws RequestError 413 beyond `maxBytes`, 400 where the body does not match the schema
 */
export async function readJsonBody<T>(request: IncomingMessage, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  const text = await readText(request, maxBytes);
  let json: unknown;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    throw rejectedCall(400, 'invalid argument: the body is not valid JSON');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // The message names only the field, since the value may be a key.
  const place = issue?.path.join('.') ?? '';
  throw rejectedCall(
    400,
    `invalid argument: ${place === '' ? 'the body' : `"${place}"`} is missing or not of its form`,
  );
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): RequestError {
  return callError('bodyTooLarge', { headers: { connection: 'close' } });
}
