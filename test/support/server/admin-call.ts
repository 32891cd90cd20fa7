import { createHash } from 'node:crypto';
import { cheapestAnswer, decryptPayload, encryptPayload } from '../../../protocol/admin/admin-payload.ts';
import { signRequest } from '../../../protocol/sigv4/sign-request.ts';
import type { Credentials } from '../../../protocol/sigv4/credentials.ts';

interface AdminReply {
  readonly status: number;
  readonly value: unknown;
}

/**
 * A call of the admin API as the own clients make it: signed, and with a body encrypted under the caller's secret key, unless it is bytes. A path
 * without `/` is below `/minio/admin/v3/`. Lines of JSON are answered as a list.
 */
export async function adminCall(
  server: string,
  keys: Credentials,
  method: string,
  target: string,
  sent?: unknown,
): Promise<AdminReply> {
  const body = Buffer.isBuffer(sent)
    ? sent
    : sent === undefined
      ? Buffer.alloc(0)
      : await encryptPayload(keys.secretKey, Buffer.from(JSON.stringify(sent)));
  const [path = '', rawQuery = ''] = target.split('?');
  const rawPath = path.startsWith('/') ? path : `/minio/admin/v3/${path}`;
  const headers = signRequest({ method, rawPath, rawQuery, headers: { host: new URL(server).host } }, keys, {
    region: 'us-east-1',
    service: 's3',
    now: new Date(),
    payloadHash: createHash('sha256').update(body).digest('hex'),
  });
  const answer = await fetch(`${server}${rawPath}${rawQuery === '' ? '' : `?${rawQuery}`}`, {
    method,
    headers: { ...headers, ...cheapestAnswer },
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const sealed = answer.headers.get('content-type') === 'application/octet-stream';
  const text = (sealed ? await decryptPayload(keys.secretKey, bytes) : bytes).toString();
  // A report of the health is two documents.
  if (answer.headers.get('content-type') === 'application/x-ndjson' || /\}\s*\n\{/.test(text)) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return { status: answer.status, value: lines.map((line) => JSON.parse(line) as unknown) };
  }
  if (answer.headers.get('content-type')?.startsWith('text/plain') === true)
    return { status: answer.status, value: text };
  // Errors of the S3 API are XML.
  if (text === '' || text.startsWith('<')) return { status: answer.status, value: text === '' ? undefined : text };
  return { status: answer.status, value: JSON.parse(text) as unknown };
}
