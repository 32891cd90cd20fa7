import type { QueryFunctionContext } from '@tanstack/react-query';
import type { ErrorAnswer } from '../../../protocol/console/answers.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The header of every change, which pages of other sites cannot send. */
export const guard = { 'x-coffer-console': '1' } as const;

/** Returns the path below which the browser sees the console, for example `/console`; empty for the root of its host. The server writes it. */
export function basePath(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="coffer-base"]')?.content ?? '';
}

/** The sign-ins of this page. */
let signIns = 0;

/** Requests that were sent before this call belong to another session. */
export function noteSignIn(): void {
  signIns += 1;
}

/**
 * Sends a request. Rejects with an `ResponseError` unless the answer is good.
 *
 * A request that left before a sign-in may be refused after it, because it has the cookie of the session that ended. It did nothing, and is
 * sent again: its refusal must not end the new session.
 */
export async function send(request: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const before = signIns;
    let response: Response;
    try {
      response = await request();
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw unreachable();
    }
    if (response.ok) return response;
    const error = errorOf(response.status, await response.text());
    if (error.code !== 'NotSignedIn' || before === signIns) throw error;
  }
}

/** The header of a read that the page sends by itself, so that the audit log can be searched without them. */
const refreshHeader = { 'x-coffer-refresh': '1' } as const;

export function headersOf(refresh: boolean): Readonly<Record<string, string>> {
  return refresh ? { ...guard, ...refreshHeader } : guard;
}

/** Reports if a query was answered before: the page then reads again by itself. */
export function isRefresh({ client, queryKey }: Pick<QueryFunctionContext, 'client' | 'queryKey'>): boolean {
  return client.getQueryState(queryKey)?.data !== undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value);
  return `${basePath()}/api${path}${search.size === 0 ? '' : `?${search}`}`;
}

export async function call<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  {
    query = {},
    body,
    signal,
    refresh = false,
  }: { query?: Query; body?: unknown; signal?: AbortSignal; refresh?: boolean } = {},
): Promise<Answer> {
  const response = await send(() =>
    fetch(apiUrl(path, query), {
      method,
      headers: { ...headersOf(refresh), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    }),
  );
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** An error of the admin API. */
export interface AdminFailure {
  readonly Code: string;
  readonly Message: string;
}

export function unreachable(): ResponseError {
  return new ResponseError('Unreachable', t.shell.theServerCannotBeReachedCheckThe);
}

export function errorOf(status: number, text: string): ResponseError {
  try {
    const { code, message, field, Code, Message } = JSON.parse(text) as Partial<ErrorAnswer & AdminFailure>;
    if (typeof code === 'string' && typeof message === 'string')
      return new ResponseError(code, sentence(message), { status, fields: field === undefined ? {} : { field } });
    if (typeof Code === 'string' && typeof Message === 'string')
      return new ResponseError(Code, sentence(Message), { status });
  } catch {
    // A proxy may answer in another format.
  }
  return new ResponseError('Unexpected', say(t.shell.somethingBetweenHereAndTheServerAnswered, { status }), { status });
}

/** Ends the message of an error as the texts of the console end: S3 defines some messages without a full stop. */
function sentence(message: string): string {
  return /[\p{Letter}\p{Number}"”')]$/u.test(message) ? `${message}.` : message;
}
