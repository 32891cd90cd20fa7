import { KubeError } from './kube-api.ts';

/**
 * Reasons of the API server by HTTP status, for answers without a Status object: those of a proxy or of an overloaded server. Only a Status says
 * that an object is not found.
 */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Makes the error of an answer. `what` is the call, e.g. `GET /api/v1/pods`. A body that is not a Status is not repeated. */
export function statusError(what: string, status: number, body: string, retryAfter?: string): KubeError {
  const answer = statusObject(body);
  const seconds = answer?.retryAfterSeconds ?? Number(retryAfter ?? Number.NaN);
  return new KubeError(
    status,
    answer?.reason ?? reasons[status] ?? 'UnknownStatus',
    `${what}: ${answer?.message ?? `answered ${status}`}`,
    Number.isFinite(seconds) ? seconds * 1000 : undefined,
    { causes: answer?.causes ?? [] },
  );
}

/** Makes the error of an ERROR event of a watch. */
export function watchError(what: string, object: unknown): KubeError {
  const code = typeof object === 'object' && object !== null && 'code' in object ? Number(object.code) : Number.NaN;
  return statusError(what, Number.isInteger(code) ? code : 500, JSON.stringify(object));
}

interface StatusObject {
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly string[];
}

/** @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
function statusObject(body: string): StatusObject | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || !('kind' in parsed) || parsed.kind !== 'Status')
    return undefined;
  const { reason, message, details } = parsed as {
    readonly reason?: unknown;
    readonly message?: unknown;
    readonly details?: { readonly retryAfterSeconds?: unknown; readonly causes?: unknown };
  };
  const causes: readonly { readonly reason?: unknown }[] = Array.isArray(details?.causes) ? details.causes : [];
  return {
    reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
    message: typeof message === 'string' && message !== '' ? message : undefined,
    retryAfterSeconds: typeof details?.retryAfterSeconds === 'number' ? details.retryAfterSeconds : undefined,
    causes: causes.flatMap((cause) => (typeof cause?.reason === 'string' ? [cause.reason] : [])),
  };
}

/** Splits a stream of bytes into lines. A chunk may end in the middle of a line or of a character. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #parts: string[] = [];

  /** Returns the lines that this chunk completes, without empty ones. */
  push(chunk: Uint8Array): string[] {
    const parts = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const last = parts.pop() ?? '';
    const lines: string[] = [];
    for (const part of parts) {
      lines.push(this.#parts.join('') + part);
      this.#parts = [];
    }
    if (last !== '') this.#parts.push(last);
    return lines.filter((line) => line.trim() !== '');
  }

  /** Returns the text after the last line break. */
  rest(): string {
    return (this.#parts.join('') + this.#decoder.decode()).trim();
  }
}
