import type { IncomingRequest } from '../access/incoming-request.ts';
import type { AuthenticatedPrincipal } from '../access/principal.ts';
import type { AdminServices } from './services.ts';

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
