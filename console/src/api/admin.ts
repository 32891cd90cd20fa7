import { type AdminFailure, basePath, headersOf, send } from './call.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface AdminRequest {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Blob;
  readonly signal?: AbortSignal | undefined;
  /** The page reads this again by itself. */
  readonly refresh?: boolean;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Sends a call of the admin API, with the rights of the session. Rejects with an `ResponseError`. */
export async function adminResponse(
  method: Method,
  name: string,
  { query = {}, body, signal, refresh = false }: AdminRequest = {},
): Promise<Response> {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, value);
  return send(() =>
    fetch(`${basePath()}/api/admin/${name}${search.size === 0 ? '' : `?${search}`}`, {
      method,
      headers: headersOf(refresh),
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

/** Sends a call that answers a text. */
export async function adminText(method: Method, name: string, request?: AdminRequest): Promise<string> {
  return (await adminResponse(method, name, request)).text();
}

/** Sends a call that answers JSON. A slow call answers its error with the status 200. */
export async function admin<Answer>(method: Method, name: string, request?: AdminRequest): Promise<Answer> {
  const text = await adminText(method, name, request);
  if (text.trim() === '') return undefined as Answer;
  const answer = JSON.parse(text) as Answer & Partial<AdminFailure>;
  if (typeof answer === 'object' && typeof answer?.Code === 'string' && typeof answer.Message === 'string') {
    throw new ResponseError(answer.Code, answer.Message, { status: 500 });
  }
  return answer;
}

interface LineReader {
  readonly signal: AbortSignal;
  /** Called when the server has accepted the call. */
  readonly opened: () => void;
  readonly onLines: (lines: readonly unknown[]) => void;
}

/** Reads lines of JSON as they come, until the signal. Rejects with an `ResponseError` where the connection is refused or lost. */
export async function followLines(
  name: string,
  query: Readonly<Record<string, string>>,
  { signal, opened, onLines }: LineReader,
): Promise<void> {
  const { body } = await adminResponse('GET', name, { query, signal });
  opened();
  if (body === null) return;
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    // Spaces keep the connection alive.
    const shown = lines.map((line) => line.trim()).filter((line) => line !== '');
    if (shown.length > 0) onLines(shown.map((line) => JSON.parse(line) as unknown));
  }
}
