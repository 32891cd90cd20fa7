import { FormatError } from '../../../protocol/format-error.ts';
import { cheapestAnswer, decryptPayload, encryptPayload } from '../../../protocol/admin/admin-payload.ts';
import { exchange, type SignedCall, type TenantEndpoint } from './signed-request.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

export interface AdminCall {
  readonly method: SignedCall['method'];
  /** Below `/minio/admin/`: `v3/add-user`, `coffer/v1/claim-policy`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | URLSearchParams;
  readonly body?: unknown;
  /** Which of body and answer the call encrypts with the caller's secret key. */
  readonly sealed?: 'body' | 'answer' | 'both';
}

/** Calls the admin API and answers its JSON; undefined when the answer is empty. Errors with `ResponseError`. */
export async function callAdmin(endpoint: TenantEndpoint, call: AdminCall, now: () => Date): Promise<unknown> {
  const { method, path, query = {}, body, sealed } = call;
  const text = body === undefined ? '' : JSON.stringify(body);
  const sealsBody = sealed === 'body' || sealed === 'both';
  const answer = await exchange(
    endpoint,
    {
      method,
      path: `/minio/admin/${path}`,
      // The signature is made over the query as it is sent, where a space is %20.
      query: new URLSearchParams(query).toString().replaceAll('+', '%20'),
      body: sealsBody ? await encryptPayload(endpoint.secretKey, Buffer.from(text)) : text,
      contentType: sealsBody ? 'application/octet-stream' : 'application/json',
      headers: cheapestAnswer,
      service: 's3',
      // The admin API has no region, even when the store has one.
      region: '',
    },
    now(),
  );
  if (answer.status < 200 || answer.status >= 300) throw refusalOf(answer.status, answer.body);
  if (answer.body.length === 0) return undefined;
  const opened =
    sealed === 'answer' || sealed === 'both' ? await opening(endpoint.secretKey, answer.body) : answer.body;
  return parsed(opened);
}

async function opening(secretKey: string, payload: Buffer): Promise<Buffer> {
  try {
    return await decryptPayload(secretKey, payload);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new ResponseError('UnreadableAnswer', `its answer cannot be decrypted: ${error.message}`, { status: 502 });
  }
}

function refusalOf(status: number, body: Buffer): ResponseError {
  try {
    const document = JSON.parse(body.toString()) as { readonly Code?: unknown; readonly Message?: unknown };
    if (typeof document.Code === 'string') {
      return new ResponseError(document.Code, typeof document.Message === 'string' ? document.Message : '', { status });
    }
  } catch {
    // A proxy answered with its own page.
  }
  return new ResponseError(`HTTP ${status}`, `status ${status}`, { status });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ResponseError('UnreadableAnswer', 'its answer is no JSON', { status: 502 });
  }
}

/** Returns undefined when the server refuses with one of these codes, such as that of a missing object. */
export async function unless<T>(codes: readonly string[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ResponseError && codes.includes(error.code)) return undefined;
    throw error;
  }
}
