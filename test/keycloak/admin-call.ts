import { createHash } from 'node:crypto';
import { decryptPayload, encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

interface Server {
  readonly s3: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** A call of the admin API as root; `sealed` bodies and answers are encrypted under the secret key. */
export async function adminCall(
  { s3, accessKey, secretKey }: Server,
  method: string,
  target: string,
  sealed?: string,
): Promise<{ readonly status: number; readonly text: string; readonly applied: boolean }> {
  const body = sealed === undefined ? Buffer.alloc(0) : await encryptPayload(secretKey, Buffer.from(sealed));
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const headers = { host: new URL(s3).host };
  const payloadHash = createHash('sha256').update(body).digest('hex');
  const signed = signRequest(
    { method, rawPath, rawQuery, headers },
    { accessKey, secretKey },
    { region: 'us-east-1', service: 's3', now: new Date(), payloadHash },
  );
  const answer = await fetch(s3 + target, {
    method,
    headers: { ...signed },
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isSealed = answer.headers.get('content-type') === 'application/octet-stream';
  return {
    status: answer.status,
    text: (isSealed ? await decryptPayload(secretKey, bytes) : bytes).toString(),
    applied: answer.headers.get('x-minio-config-applied') === 'true',
  };
}
