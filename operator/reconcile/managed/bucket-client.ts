import { readErrorDocument } from '../../../protocol/s3/responses.ts';
import { exchange, type TenantEndpoint, TenantRefusal } from './signed-request.ts';
import { parseBucketEncryption, writeBucketEncryption } from '../../../protocol/s3/bucket-encryption.ts';
import { parseTagging, writeTagging } from '../../../protocol/s3/tagging.ts';
import type { Json } from '../../runtime/contract/workload.ts';
import type { BucketState, BucketChange } from './bucket-state.ts';

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly bucket: string;
  /** `policy`, `tagging`; none for the bucket itself. */
  readonly subresource?: string;
  readonly body?: string;
}

/** Any region does where a store is bound to none; one that is bound refuses with the one it wants. */
const defaultRegion = 'us-east-1';

/** Sends one request and resolves with the text of its answer. Errors with `TenantRefusal` and `TenantUnreachable`. */
async function sendS3(endpoint: TenantEndpoint, request: S3Request, now: () => Date): Promise<string> {
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

/** One bucket of one tenant. Every method errors with `TenantRefusal` and `TenantUnreachable`. */
interface BucketClient {
  /** Undefined where there is no such bucket. */
  find(): Promise<BucketState | undefined>;
  make(change: BucketChange): Promise<void>;
  /** Resolves where there is none; errors with the code `BucketNotEmpty`. */
  delete(): Promise<void>;
}

export function createBucketClient(
  endpoint: TenantEndpoint,
  bucket: string,
  now: () => Date = () => new Date(),
): BucketClient {
  const send = (method: S3Request['method'], subresource?: string, body?: string) =>
    sendS3(
      endpoint,
      {
        method,
        bucket,
        ...(subresource === undefined ? {} : { subresource }),
        ...(body === undefined ? {} : { body }),
      },
      now,
    );
  /** What a bucket does not have is told by an error. */
  const read = async <T>(subresource: string, none: string, parse: (text: string) => T): Promise<T | undefined> => {
    const text = await unless(none, send('GET', subresource));
    return text === undefined ? undefined : parse(text);
  };

  return {
    async find() {
      // Not by HEAD, whose refusals do not say why.
      if ((await unless('NoSuchBucket', send('GET', 'location'))) === undefined) return undefined;
      const [encryption, policy, tags] = await Promise.all([
        read('encryption', 'ServerSideEncryptionConfigurationNotFoundError', parseBucketEncryption),
        read('policy', 'NoSuchBucketPolicy', (text) => JSON.parse(text) as Json),
        read('tagging', 'NoSuchTagSet', parseTagging),
      ]);
      return { encryption, policy, tags: tags ?? {} };
    },

    async make(change) {
      switch (change.kind) {
        case 'create':
          await unless('BucketAlreadyOwnedByYou', send('PUT'));
          return;
        case 'encryption':
          await put('encryption', change.to, writeBucketEncryption);
          return;
        case 'policy':
          await put('policy', change.to, (policy) => JSON.stringify(policy));
          return;
        case 'tags':
          await put('tagging', Object.keys(change.to).length === 0 ? undefined : change.to, writeTagging);
          return;
        default:
          change satisfies never;
      }
    },

    async delete() {
      await unless('NoSuchBucket', send('DELETE'));
    },
  };

  async function put<T>(subresource: string, to: T | undefined, write: (value: T) => string): Promise<void> {
    await (to === undefined ? send('DELETE', subresource) : send('PUT', subresource, write(to)));
  }
}

async function unless(code: string, answer: Promise<string>): Promise<string | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TenantRefusal && error.code === code) return undefined;
    throw error;
  }
}
