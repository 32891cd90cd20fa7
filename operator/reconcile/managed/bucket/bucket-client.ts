import { readVersioningStatus } from '../../../../protocol/s3/bucket-versioning.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { readErrorDocument } from '../../../../protocol/s3/responses.ts';
import { exchange, type TenantEndpoint } from '../signed-request.ts';
import { parseBucketEncryption, writeBucketEncryption } from '../../../../protocol/s3/bucket-encryption.ts';
import { parseNotification, writeNotification } from '../../../../protocol/s3/bucket-notification.ts';
import {
  type ReplicationConfiguration,
  parseReplication,
  writeReplication,
} from '../../../../protocol/s3/bucket-replication.ts';
import { parseLifecycle, writeLifecycle } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { transitionMinimumHeader } from '../../../../protocol/s3/lifecycle/transition-minimum.ts';
import { parseTagging, writeTagging } from '../../../../protocol/s3/tagging.ts';
import { readEditable, withAll, withText, writeEdited } from '../../../../protocol/s3/xml-edit.ts';
import type { Json } from '../../../contract/workload.ts';
import {
  type BucketChange,
  type BucketNotification,
  type BucketState,
  type BucketVersioning,
  comparableRules,
} from './bucket-state.ts';
import { comparableLifecycle } from './lifecycle-rules.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly bucket: string;
  /** `policy`, `tagging`; undefined for the bucket itself. */
  readonly subresource?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface S3Answer {
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** A store without a region accepts any. A store with a region answers with its own. */
const defaultRegion = 'us-east-1';

/** Sends one request and answers the text and the headers of the answer. Errors with `ResponseError`. */
async function sendS3(endpoint: TenantEndpoint, request: S3Request, now: () => Date): Promise<S3Answer> {
  try {
    return await attempt(endpoint, request, now(), defaultRegion);
  } catch (error) {
    const region = error instanceof ResponseError ? error.fields['Region'] : undefined;
    if (region === undefined) throw error;
    return attempt(endpoint, request, now(), region);
  }
}

async function attempt(endpoint: TenantEndpoint, request: S3Request, now: Date, region: string): Promise<S3Answer> {
  const { method, bucket, subresource, body = '', headers } = request;
  const query = subresource === undefined ? '' : `${subresource}=`;
  const call = { method, path: `/${bucket}`, query, body, headers, service: 's3', region } as const;
  const answer = await exchange(endpoint, call, now);
  const { status } = answer;
  const text = answer.body.toString();
  if (status >= 200 && status < 300) return { text, headers: answer.headers };
  const document = readErrorDocument(text);
  const wanted = document?.fields['Region'];
  if (wanted !== undefined && wanted !== '' && wanted !== region)
    throw new ResponseError('AuthorizationHeaderMalformed', document?.message ?? '', {
      status,
      fields: { Region: wanted },
    });
  throw new ResponseError(document?.code ?? `HTTP ${status}`, document?.message ?? `status ${status}`, { status });
}

interface Asked {
  readonly notifications: boolean;
  readonly versioning: boolean;
  readonly lifecycle: boolean;
}

/** A client for one bucket of one tenant. Every method errors with `ResponseError`. */
export interface BucketClient {
  /** Returns undefined when the bucket does not exist. What a resource may leave alone is read where it is asked for. */
  find(asked: Asked): Promise<BucketState | undefined>;
  make(change: BucketChange): Promise<void>;
  /** Returns a configuration without rules where there is none. */
  findReplication(): Promise<ReplicationConfiguration>;
  setReplication(configuration: ReplicationConfiguration): Promise<void>;
  /** Resolves also when the bucket does not exist. Errors with the code `BucketNotEmpty`. */
  delete(): Promise<void>;
}

export function createBucketClient(
  endpoint: TenantEndpoint,
  bucket: string,
  now: () => Date = () => new Date(),
): BucketClient {
  const send = async (method: S3Request['method'], subresource?: string, body?: string, headers = {}) =>
    (await sendS3(endpoint, { method, bucket, subresource, body, headers }, now)).text;
  /** The header of the rules that says whether small objects move to tiers. No field names it, so that it stays as others set it. */
  const transitionMinimum = async (): Promise<Readonly<Record<string, string>>> => {
    const found = sendS3(endpoint, { method: 'GET', bucket, subresource: 'lifecycle' }, now);
    const value = (await unless('NoSuchLifecycleConfiguration', found))?.headers[transitionMinimumHeader];
    return typeof value === 'string' ? { [transitionMinimumHeader]: value } : {};
  };
  /** Reads a configuration of the bucket; the server reports a missing one by an error. */
  const read = async <T>(subresource: string, none: string, parse: (text: string) => T): Promise<T | undefined> => {
    const text = await unless(none, send('GET', subresource));
    return text === undefined ? undefined : parse(text);
  };

  return {
    async find(asked) {
      // HEAD is not used, since its errors have no code.
      if ((await unless('NoSuchBucket', send('GET', 'location'))) === undefined) return undefined;
      const [encryption, policy, tags, rules, versioning, lifecycle] = await Promise.all([
        read('encryption', 'ServerSideEncryptionConfigurationNotFoundError', parseBucketEncryption),
        read('policy', 'NoSuchBucketPolicy', (text) => JSON.parse(text) as Json),
        read('tagging', 'NoSuchTagSet', parseTagging),
        asked.notifications ? send('GET', 'notification').then(readRules) : undefined,
        asked.versioning ? send('GET', 'versioning').then(readVersioningStatus) : undefined,
        asked.lifecycle ? read('lifecycle', 'NoSuchLifecycleConfiguration', parseLifecycle) : undefined,
      ]);
      return {
        encryption,
        policy,
        tags: tags ?? {},
        ...(rules && { notifications: rules }),
        ...(versioning && { versioning }),
        ...(lifecycle && { lifecycle: comparableLifecycle(lifecycle) }),
      };
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
        case 'notifications':
          await send('PUT', 'notification', writeRules(change.to));
          return;
        case 'versioning':
          await send('PUT', 'versioning', withStatus(await send('GET', 'versioning'), change.to));
          return;
        case 'lifecycle':
          if (change.to.length === 0) await send('DELETE', 'lifecycle');
          else {
            // The ids say which rules the operator made.
            const rules = change.to.map((rule, at) => ({ ...rule, id: `operator-${at + 1}` }));
            await send('PUT', 'lifecycle', writeLifecycle(rules), await transitionMinimum());
          }
          return;
        default:
          change satisfies never;
      }
    },

    async findReplication() {
      const found = await read('replication', 'ReplicationConfigurationNotFoundError', parseReplication);
      return found ?? { rules: [] };
    },

    async setReplication(configuration) {
      await put('replication', configuration.rules.length === 0 ? undefined : configuration, writeReplication);
    },

    async delete() {
      await unless('NoSuchBucket', send('DELETE'));
    },
  };

  async function put<T>(subresource: string, to: T | undefined, write: (value: T) => string): Promise<void> {
    await (to === undefined ? send('DELETE', subresource) : send('PUT', subresource, write(to)));
  }
}

/** Prefixes and folders that others excluded stay; a suspended versioning excludes no prefixes. */
function withStatus(document: string, status: BucketVersioning): string {
  const root = withText(readEditable(document), ['Status'], status);
  return writeEdited(status === 'Suspended' ? withAll(root, 'ExcludedPrefixes', []) : root);
}

function readRules(text: string): readonly BucketNotification[] {
  return comparableRules(parseNotification(text, { targets: 'any', region: '' }));
}

/** The region of the ARN is empty: it is that of the server. The ids say which rules the operator made. */
function writeRules(rules: readonly BucketNotification[]): string {
  return writeNotification(
    rules.map((rule, at) => ({ ...rule, id: `operator-${at + 1}`, arn: `arn:minio:sqs::${rule.target}` })),
  );
}

async function unless<T>(code: string, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ResponseError && error.code === code) return undefined;
    throw error;
  }
}
