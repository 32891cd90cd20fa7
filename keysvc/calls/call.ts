import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../protocol/key-service/identity.ts';
import type { Route } from '../../protocol/key-service/routes.ts';
import type { Authorizer } from './authorizer.ts';
import type { AuditLog, ErrorLog } from './event-logs.ts';
import type { EventSource } from './event-logs.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import type { z } from 'zod';
import { refuse, Refused } from './refused.ts';

/** What the calls work on. */
export interface Service {
  readonly keyring: Keyring;
  readonly authorizer: Authorizer;
  readonly audit: AuditLog;
  readonly errors: ErrorLog;
  readonly metrics: ServiceMetrics;
  /** Milliseconds that a call may take; undefined where it is endless. */
  readonly timeoutOf: (route: Route) => number | undefined;
  /** Whether a call needs no certificate. */
  readonly isOpen: (route: Route) => boolean;
  readonly startedAt: number;
  readonly version: string;
  readonly commit: string;
  readonly now: () => number;
  /** Whether the service is about to stop: it still answers, and is not ready. */
  readonly leaving: () => boolean;
}

/** One request that was let through. */
export interface Call {
  readonly service: Service;
  readonly route: Route;
  /** The name, pattern or identity at the end of the path. */
  readonly argument: string;
  /** Absent where the call needs no certificate. */
  readonly identity: Identity | undefined;
  readonly request: IncomingMessage;
}

/** What is sent with status 200. */
export type Answer =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly body: object }
  | { readonly kind: 'lines'; readonly text: string }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  /** Goes on for as long as both sides want. */
  | { readonly kind: 'events'; readonly source: EventSource };

export type Handler = (call: Call) => Promise<Answer>;

export const empty: Answer = { kind: 'empty' };

export function json(body: object): Answer {
  return { kind: 'json', body };
}

/** One JSON line for each item; none where there is nothing. */
export function lines(items: readonly object[]): Answer {
  return { kind: 'lines', text: items.map((item) => `${JSON.stringify(item)}\n`).join('') };
}

/** What stands in the configuration was made by its superuser when the service started, as far as the protocol can say it. */
export function madeBy({ startedAt, authorizer }: Service): { created_at: string; created_by: string } {
  return { created_at: new Date(startedAt).toISOString(), created_by: authorizer.admin ?? '' };
}

/** Reads a request's JSON body; none counts as `{}`. Errors with a `Refused`: 413 beyond `maxBytes`, 400 where it is not as it must be. */
export async function readJsonBody<T>(request: IncomingMessage, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  const text = await readText(request, maxBytes);
  let json: unknown;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    throw new Refused(400, 'invalid argument: the body is not valid JSON');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // The value may be a key: only its place is named.
  const place = issue?.path.join('.') ?? '';
  throw new Refused(400, `invalid argument: ${place === '' ? 'the body' : `"${place}"`} is missing or not of its form`);
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

function tooLarge(): Refused {
  return refuse('bodyTooLarge', { headers: { connection: 'close' } });
}
