import { readErrorDocument } from '../../protocol/s3/error-document.ts';
import { exchange, type TenantEndpoint } from '../declared/signed-request.ts';
import { TenantRefusal } from '../declared/tenant-refusal.ts';

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly bucket: string;
  /** `policy`, `tagging`; none for the bucket itself. */
  readonly subresource?: string;
  readonly body?: string;
}

/** Any region does where a store is bound to none; one that is bound refuses with the one it wants. */
const defaultRegion = 'us-east-1';

/** Sends one request and resolves with the text of its answer. Errors with `TenantRefusal` and `TenantUnreachable`. */
export async function sendS3(endpoint: TenantEndpoint, request: S3Request, now: () => Date): Promise<string> {
  try {
    return await attempt(endpoint, request, now(), defaultRegion);
  } catch (error) {
    const region = error instanceof WrongRegion ? error.region : undefined;
    if (region === undefined) throw error;
    return attempt(endpoint, request, now(), region);
  }
}

class WrongRegion extends TenantRefusal {
  readonly region: string;
  constructor(status: number, message: string, region: string) {
    super('AuthorizationHeaderMalformed', status, message);
    this.region = region;
  }
}

async function attempt(endpoint: TenantEndpoint, request: S3Request, now: Date, region: string): Promise<string> {
  const { method, bucket, subresource, body = '' } = request;
  const query = subresource === undefined ? '' : `${subresource}=`;
  const call = { method, path: `/${bucket}`, query, body, service: 's3', region } as const;
  const answer = await exchange(endpoint, call, now);
  const { status } = answer;
  const text = answer.body.toString();
  if (status >= 200 && status < 300) return text;
  const document = readErrorDocument(text);
  const wanted = document?.fields['Region'];
  if (wanted !== undefined && wanted !== '' && wanted !== region)
    throw new WrongRegion(status, document?.message ?? '', wanted);
  throw new TenantRefusal(document?.code ?? `HTTP ${status}`, status, document?.message ?? `status ${status}`);
}
