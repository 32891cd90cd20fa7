import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { decryptPayload, encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

/** A server with an admin API, ours or a real MinIO, and who asks it. */
interface AdminAccount {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  readonly userAgent?: string;
}

interface AdminReply {
  readonly status: number;
  /** JSON, decrypted where it came encrypted; text where it is no JSON; undefined where there is none. */
  readonly value: unknown;
}

interface AdminBody {
  readonly plain?: string | Buffer;
  /** Sent as JSON, encrypted as `mc` does. */
  readonly sealed?: unknown;
}

/** One call below `/minio/admin/v3`, as `mc` makes it, with the answer as it is before `mc` turns it into its own. */
export async function adminCall(
  account: AdminAccount,
  method: string,
  target: string,
  sent: AdminBody = {},
): Promise<AdminReply> {
  const [path = '', rawQuery = ''] = target.split('?');
  const rawPath = path.startsWith('/') ? path : `/minio/admin/v3/${path}`;
  const body =
    sent.sealed === undefined
      ? Buffer.from(sent.plain ?? '')
      : await encryptPayload(account.secretKey, Buffer.from(JSON.stringify(sent.sealed)));
  const headers = { host: new URL(account.url).host, 'user-agent': account.userAgent ?? 'test' };
  const signed = signRequest({ method, rawPath, rawQuery, headers }, account, {
    region: '',
    service: 's3',
    now: new Date(),
    payloadHash: createHash('sha256').update(body).digest('hex'),
  });
  const reply = await send(`${account.url}${rawPath}?${rawQuery}`, method, { ...headers, ...signed }, body);
  return { status: reply.status, value: await understood(reply.body, account.secretKey) };
}

function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers: { ...headers, 'content-length': body.length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function understood(body: Buffer, secret: string): Promise<unknown> {
  if (body.length === 0) return undefined;
  const plain = jsonOf(body);
  if (plain !== undefined) return plain;
  const opened = await decryptPayload(secret, body).catch(() => undefined);
  return opened === undefined ? body.toString('latin1') : jsonOf(opened);
}

function jsonOf(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString()) as unknown;
  } catch {
    return undefined;
  }
}
