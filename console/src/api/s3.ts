import { basePath, guard, send } from './call.ts';
import type { SendS3 } from './copies.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface S3Request {
  /** Undefined for an operation on the bucket. */
  readonly key?: string | undefined;
  /** Parameters of the operation; undefined ones are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the headers of a request in the way of which a browser adds none. To a request with a condition it adds `Cache-Control: max-age=0`,
 * which S3 would store with the object, unless there is one: the empty one stands for none.
 *
 * @see https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
 */
export function withoutCacheControl(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isConditional = Object.keys(headers).some((name) => name.startsWith('if-'));
  return isConditional ? { 'cache-control': '', ...headers } : headers;
}

/** Sends an operation of the S3 API, with the rights of the session. Rejects with an `ResponseError`. */
export async function s3(
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE',
  bucket: string,
  { key, query = {}, headers = {}, body, signal }: S3Request = {},
): Promise<Response> {
  return send(() =>
    fetch(s3Url(bucket, key, query), {
      method,
      headers: { ...guard, ...withoutCacheControl(headers) },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

/** Sends an operation that answers a document. An error may come in it, after the status 200. */
export async function s3Document(...request: Parameters<typeof s3>): Promise<Element> {
  return documentOf(await (await s3(...request)).text());
}

export function s3Url(
  bucket: string,
  key: string | undefined,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const parameters = new URLSearchParams();
  if (key !== undefined) parameters.set('key', key);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
  return `${basePath()}/api/s3/${encodeURIComponent(bucket)}?${parameters}`;
}

/** Undefined instead of the error where nothing is configured, for example `NoSuchTagSet`. */
export async function unlessAbsent<Answer>(
  codes: readonly string[],
  answer: Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ResponseError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** Sends an operation for its headers. A copy may answer an error after the status 200. */
export const sendForHeaders: SendS3 = async (method, bucket, request) => {
  const response = await s3(method, bucket, request);
  if (method === 'PUT') documentOf(await response.text());
  return Object.fromEntries(response.headers);
};

function documentOf(text: string): Element {
  const root = new DOMParser().parseFromString(text, 'application/xml').documentElement;
  if (root.localName === 'Error') {
    throw new ResponseError(textIn(root, 'Code') ?? 'InternalError', textIn(root, 'Message') ?? 'The server failed.', {
      status: 500,
    });
  }
  return root;
}

/** The child elements of this name. */
export function childrenOf(element: Element, name: string): readonly Element[] {
  return [...element.children].filter(({ localName }) => localName === name);
}

/** The text of the first child element of this name; undefined without one. */
export function textIn(element: Element, name: string): string | undefined {
  return childrenOf(element, name)[0]?.textContent ?? undefined;
}

/** Decodes a name of a listing with `encoding-type=url`. */
export function decoded(text: string | undefined): string {
  return decodeURIComponent((text ?? '').replaceAll('+', ' '));
}
