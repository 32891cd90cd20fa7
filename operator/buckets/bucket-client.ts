import { parseBucketEncryption, writeBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { parseTagging, writeTagging } from '../../protocol/s3/tagging.ts';
import type { TenantEndpoint } from '../declared/signed-request.ts';
import { TenantRefusal } from '../declared/tenant-refusal.ts';
import type { Json } from '../workload.ts';
import type { BucketState } from './bucket-state.ts';
import type { BucketChange } from './diff-bucket.ts';
import { sendS3, type S3Request } from './s3-request.ts';

/** One bucket of one tenant. Every method errors with `TenantRefusal` and `TenantUnreachable`. */
export interface BucketClient {
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
