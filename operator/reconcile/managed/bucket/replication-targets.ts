import { z } from 'zod';
import type { BucketSpec } from '../../../api/bucket.ts';
import type { ReplicationTargetFields } from '../../../api/bucket-fields.ts';
import type { Secret } from '../../../contract/secret.ts';
import { quantityValue } from '../../../api/volume-fields.ts';
import { secretValue } from '../../../render/render-context.ts';
import type { AddedTarget } from '../../conditions.ts';
import { callAdmin, unless } from '../admin-request.ts';
import type { TenantEndpoint } from '../signed-request.ts';

/** A remote target as a resource wants it. */
export interface WantedTarget {
  readonly name: string;
  /** HOST or HOST:PORT. */
  readonly endpoint: string;
  readonly secure: boolean;
  readonly bucket: string;
  readonly region: string;
  readonly path: 'auto' | 'on' | 'off';
  readonly bandwidthLimit: number;
  readonly disableProxy: boolean;
  readonly synchronous: boolean;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The fingerprint of both keys. */
  readonly credentials: string;
}

const foundTargets = z.array(
  z.object({
    arn: z.string(),
    endpoint: z.string(),
    secure: z.boolean().default(false),
    targetbucket: z.string(),
    region: z.string().default(''),
    path: z.enum(['auto', 'on', 'off']).catch('auto'),
    bandwidthlimit: z.number().default(0),
    disableProxy: z.boolean().default(false),
    replicationSync: z.boolean().default(false),
    credentials: z.object({ accessKey: z.string().default('') }).optional(),
  }),
);

/** A remote target of a server, which does not return its secret key. */
export type FoundTarget = z.output<typeof foundTargets>[number];

/** Returns the targets of a resource with their credentials. Errors with `ResourceError` for a Secret that is missing or not allowed. */
export function wantedTargets(
  replication: NonNullable<BucketSpec['replication']>,
  secrets: ReadonlyMap<string, Secret>,
  fingerprint: (value: string) => string,
): readonly WantedTarget[] {
  return replication.targets.map((target, at) => {
    const field = `spec.replication.targets[${at}].credentialsSecret`;
    const { name } = target.credentialsSecret;
    const [accessKey, secretKey] = (['accessKey', 'secretKey'] as const).map((key) =>
      secretValue(secrets, { name, key }, field, 'replication'),
    ) as [string, string];
    return { ...placeOf(target), accessKey, secretKey, credentials: fingerprint(`${accessKey}\n${secretKey}`) };
  });
}

const paths = { auto: 'auto', path: 'on', host: 'off' } as const;

function placeOf({ name, endpoint, bucket, region = '', ...target }: ReplicationTargetFields) {
  const { addressing, bandwidthLimit, disableProxy, synchronous } = target;
  const { host, protocol } = new URL(endpoint);
  return {
    name,
    endpoint: host,
    secure: protocol === 'https:',
    bucket,
    region,
    path: paths[addressing],
    bandwidthLimit: bandwidthLimit === undefined ? 0 : Math.round(quantityValue(bandwidthLimit) ?? 0),
    disableProxy,
    synchronous,
  };
}

/** Returns the found target of a wanted one: that of the same bucket at the same address. */
export function findTarget(
  wanted: Pick<WantedTarget, 'endpoint' | 'secure' | 'bucket'>,
  found: readonly FoundTarget[],
): FoundTarget | undefined {
  return found.find(
    ({ endpoint, secure, targetbucket }) =>
      endpoint === wanted.endpoint && secure === wanted.secure && targetbucket === wanted.bucket,
  );
}

/** Returns the parts of a target that differ, by the names of the admin call that changes them. */
export function targetDifferences(
  wanted: WantedTarget,
  found: FoundTarget,
  added: AddedTarget | undefined,
): readonly string[] {
  const sameKeys = wanted.accessKey === found.credentials?.accessKey && added?.credentials === wanted.credentials;
  return [
    // Without a region in the resource the server asks the target for it.
    ...(sameKeys && (wanted.region === '' || wanted.region === found.region) ? [] : ['creds']),
    ...(wanted.bandwidthLimit === found.bandwidthlimit ? [] : ['bandwidth']),
    ...(wanted.path === found.path ? [] : ['path']),
    ...(wanted.disableProxy === found.disableProxy ? [] : ['proxy']),
    ...(wanted.synchronous === found.replicationSync ? [] : ['sync']),
  ];
}

/** Calls for the remote targets of one bucket. Each errors with `ResponseError`. */
export function targetClient(endpoint: TenantEndpoint, bucket: string, now: () => Date) {
  const set = async (target: WantedTarget, more: object, query: Readonly<Record<string, string>>): Promise<string> => {
    const body = {
      endpoint: target.endpoint,
      secure: target.secure,
      targetbucket: target.bucket,
      region: target.region,
      path: target.path,
      bandwidthlimit: target.bandwidthLimit,
      disableProxy: target.disableProxy,
      replicationSync: target.synchronous,
      credentials: { accessKey: target.accessKey, secretKey: target.secretKey },
      type: 'replication',
      api: 's3v4',
      ...more,
    };
    const call = { method: 'PUT', path: 'v3/set-remote-target', query: { bucket, ...query }, body } as const;
    return z.string().parse(await callAdmin(endpoint, { ...call, sealed: 'body' }, now));
  };
  return {
    async list(): Promise<readonly FoundTarget[]> {
      const call = { method: 'GET', path: 'v3/list-remote-targets', query: { bucket, type: 'replication' } } as const;
      return foundTargets.parse((await callAdmin(endpoint, call, now)) ?? []);
    },
    /** Returns the ARN of the target. */
    add: (target: WantedTarget) => set(target, {}, {}),
    update: (target: WantedTarget, arn: string, parts: readonly string[]) =>
      set(target, { arn }, { update: 'true', ...Object.fromEntries(parts.map((part) => [part, 'true'])) }),
    async remove(arn: string): Promise<void> {
      const call = { method: 'DELETE', path: 'v3/remove-remote-target', query: { bucket, arn } } as const;
      await unless(['XMinioAdminRemoteTargetNotFoundError'], callAdmin(endpoint, call, now));
    },
  };
}
