import { parseDocument } from 'yaml';
import { z } from 'zod';
import {
  batchFilter,
  type BatchFilter,
  filterFields,
  type GivenFilter,
  invalid,
  type JobTarget,
  prefix,
  retry,
  targetOf,
  text,
} from './definition-fields.ts';

/** The other server of a job that replicates. */
interface BatchPlace {
  /** `minio`, which Coffer is too, keeps versions with their ids; `s3` gets the current versions. */
  readonly type: 'minio' | 's3';
  readonly bucket: string;
  /** `HOST` or `HOST:PORT`. */
  readonly endpoint: string;
  readonly secure: boolean;
  readonly path: 'auto' | 'on' | 'off';
  readonly accessKey: string;
}

export interface ReplicateDefinition extends JobTarget {
  readonly type: 'replicate';
  /** `bucket` is that of this server: the source of a job that sends, and the target of one that fetches. */
  readonly direction: 'send' | 'fetch';
  readonly remote: BatchPlace;
  /** Keys get it in front. */
  readonly targetPrefix: string;
  readonly filter: BatchFilter;
  readonly notify: { readonly endpoint: string } | undefined;
}

/** The secrets of a definition. They are stored sealed, and apart from it. */
export interface BatchSecrets {
  readonly secretKey: string;
  readonly sessionToken?: string;
  /** The `Authorization` of the message at the end. */
  readonly notifyToken?: string;
}

const credentials = z
  .strictObject({
    accessKey: text.nullish(),
    secretKey: text.nullish(),
    sessionToken: z.string().max(8_192).nullish(),
  })
  .nullish();
const place = {
  type: z.enum(['minio', 's3']).nullish(),
  bucket: text.min(1),
  endpoint: text.nullish(),
  path: z.enum(['auto', 'on', 'off']).nullish(),
  credentials,
};

export const replicateSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  source: z.strictObject({
    ...place,
    prefix,
    /** The packing of small objects in MinIO. The result is the same without it. */
    snowball: z
      .strictObject({
        disable: z.boolean().nullish(),
        batch: z.number().nullish(),
        inmemory: z.boolean().nullish(),
        compress: z.boolean().nullish(),
        smallerThan: text.nullish(),
        skipErrs: z.boolean().nullish(),
      })
      .nullish(),
  }),
  target: z.strictObject({ ...place, prefix: text.nullish() }),
  flags: z
    .strictObject({
      filter: z.strictObject(filterFields).nullish(),
      notify: z.strictObject({ endpoint: text.min(1), token: text.nullish() }).nullish(),
      retry,
    })
    .nullish(),
});

type Given = z.output<typeof replicateSchema>;

export function replicateOf(given: Given, now: number): ReplicateDefinition {
  const { source, target, flags } = given;
  const direction = directionOf(given);
  const [local, remote] = direction === 'send' ? [source, target] : [target, source];
  const notify = flags?.notify ?? undefined;
  if (notify !== undefined) urlOf(notify.endpoint, 'replicate.flags.notify.endpoint');
  return {
    type: 'replicate',
    ...targetOf({ bucket: local.bucket, prefix: source.prefix }, flags?.retry),
    direction,
    remote: remoteOf(remote, direction === 'send' ? 'target' : 'source'),
    targetPrefix: target.prefix ?? '',
    notify: notify && { endpoint: notify.endpoint },
    filter: filterOf(flags?.filter ?? {}, now),
  };
}

/** The side with an endpoint is the other server. */
function directionOf({ source, target }: Given): ReplicateDefinition['direction'] {
  if (source.endpoint && target.endpoint)
    throw invalid('replicate: source and target have an endpoint; leave it out for the side that is this server');
  if (!source.endpoint && !target.endpoint)
    throw invalid(
      'replicate: neither source nor target has an endpoint; between buckets of one server, copy with cp or mirror',
    );
  const [own, name] = source.endpoint ? [target, 'target'] : [source, 'source'];
  if (own.credentials?.accessKey || own.credentials?.secretKey)
    throw invalid(`replicate.${name}.credentials: this server needs none; remove them, or name its endpoint`);
  return source.endpoint ? 'fetch' : 'send';
}

type GivenPlace = Pick<Given['target'], 'type' | 'bucket' | 'endpoint' | 'path' | 'credentials'>;

function remoteOf({ type, bucket, endpoint, path, credentials: keys }: GivenPlace, name: string): BatchPlace {
  if (!keys?.accessKey || !keys.secretKey)
    throw invalid(`replicate.${name}.credentials: an access key and a secret key are needed`);
  const { host, protocol, pathname } = urlOf(endpoint ?? '', `replicate.${name}.endpoint`);
  if (pathname !== '/') throw invalid(`replicate.${name}.endpoint: it has a path; name the host alone`);
  const secure = protocol === 'https:';
  return { type: type ?? 'minio', bucket, endpoint: host, secure, path: path ?? 'auto', accessKey: keys.accessKey };
}

function filterOf(given: GivenFilter, now: number): BatchFilter {
  const { createdAfter, createdBefore } = given;
  if ((createdAfter ?? 0) > now) throw invalid('replicate.flags.filter.createdAfter: it is in the future');
  if (createdAfter && createdBefore && createdAfter >= createdBefore)
    throw invalid('replicate.flags.filter: createdAfter must be before createdBefore');
  return batchFilter(given);
}

function urlOf(address: string, field: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw invalid(`${field}: expected http://HOST:PORT or https://HOST:PORT`);
  return url;
}

const hidden = '*redacted*';

/** The places of secrets in a definition. */
const secretPaths: readonly (readonly string[])[] = [
  ['source', 'credentials', 'secretKey'],
  ['source', 'credentials', 'sessionToken'],
  ['target', 'credentials', 'secretKey'],
  ['target', 'credentials', 'sessionToken'],
  ['flags', 'notify', 'token'],
];

/** Splits a definition that was checked into its text without secrets, which may be shown, and its secrets. */
export function splitSecrets(yaml: string): { readonly definition: string; readonly secrets: BatchSecrets } {
  const document = parseDocument(yaml);
  const found = new Map<string, string>();
  for (const path of secretPaths) {
    const at = ['replicate', ...path];
    const value = document.getIn(at);
    // The schema takes texts alone.
    if (typeof value !== 'string' || value === '') continue;
    found.set(path.at(-1) ?? '', value);
    document.setIn(at, hidden);
  }
  const [sessionToken, notifyToken] = [found.get('sessionToken'), found.get('token')];
  return {
    definition: document.toString(),
    secrets: {
      secretKey: found.get('secretKey') ?? '',
      ...(sessionToken !== undefined && { sessionToken }),
      ...(notifyToken !== undefined && { notifyToken }),
    },
  };
}

/** Returns the key of a copy below the prefix of the target. */
export function keyBelow(prefix: string, key: string): string {
  return prefix === '' || prefix.endsWith('/') ? `${prefix}${key}` : `${prefix}/${key}`;
}
