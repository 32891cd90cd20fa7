import { decryptPayload, encryptPayload, PayloadError } from '../../../protocol/admin-payload.ts';
import { exchange, type SignedCall, type TenantEndpoint, TenantRefusal } from './signed-request.ts';

export interface AdminCall {
  readonly method: SignedCall['method'];
  /** Below `/minio/admin/`: `v3/add-user`, `coffer/v1/claim-policy`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | URLSearchParams;
  readonly body?: unknown;
  /** Body and answer are encrypted under the secret key of who asks, as the call has it. */
  readonly sealed?: 'body' | 'answer' | 'both';
}

/** One call of the admin API; resolves with its JSON, undefined where the answer is empty. Errors with `TenantRefusal` and `TenantUnreachable`. */
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
      service: 's3',
      // The admin API is of no region, whatever the store is bound to.
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
    if (!(error instanceof PayloadError)) throw error;
    throw new TenantRefusal('UnreadableAnswer', 502, `its answer cannot be decrypted: ${error.message}`);
  }
}

function refusalOf(status: number, body: Buffer): TenantRefusal {
  try {
    const document = JSON.parse(body.toString()) as { readonly Code?: unknown; readonly Message?: unknown };
    if (typeof document.Code === 'string') {
      return new TenantRefusal(document.Code, status, typeof document.Message === 'string' ? document.Message : '');
    }
  } catch {
    // A proxy answered with a page of its own.
  }
  return new TenantRefusal(`HTTP ${status}`, status, `status ${status}`);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new TenantRefusal('UnreadableAnswer', 502, 'its answer is no JSON');
  }
}

/** Undefined where the server answers one of these codes: what is not there is told by a refusal. */
export async function unless<T>(codes: readonly string[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TenantRefusal && codes.includes(error.code)) return undefined;
    throw error;
  }
}
