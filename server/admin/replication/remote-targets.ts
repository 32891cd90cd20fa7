import { z } from 'zod';
import { bucketNameError } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { RemoteTargets } from '../../administration/services.ts';
import type { RemoteTargetFields, ShownRemoteTarget } from '../../../protocol/admin/remote-target.ts';
import { type AdminAnswer, type AdminCall, adminPath, json, type Route, sealedJsonBody } from '../call.ts';
import { adminError } from '../../administration/admin-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

/** The remote targets of replication: the calls of `mc admin bucket remote` and `mc replicate`. */
export const remoteTargetRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('set-remote-target'), action: 'admin:SetBucketTarget', serve: setRemoteTarget },
  { method: 'GET', path: adminPath('list-remote-targets'), action: 'admin:GetBucketTarget', serve: listRemoteTargets },
  {
    method: 'DELETE',
    path: adminPath('remove-remote-target'),
    action: 'admin:SetBucketTarget',
    serve: removeRemoteTarget,
  },
];

const text = z.string().max(2_048).optional();

/** A field that a server adds when it shows a target. An update of `mc` sends it back, and it changes nothing. */
const shown = z.unknown().optional();

const targetSchema = z.strictObject({
  sourcebucket: shown,
  deploymentID: shown,
  resetBeforeDate: shown,
  resetID: shown,
  totalDowntime: shown,
  lastOnline: shown,
  isOnline: shown,
  latency: shown,
  offlineCount: shown,
  endpoint: z.string().min(1).max(512),
  credentials: z
    .strictObject({ accessKey: text, secretKey: text, sessionToken: text, expiration: shown })
    .optional()
    .nullable(),
  targetbucket: z.string(),
  secure: z.boolean().default(false),
  path: z.enum(['auto', 'on', 'off', '']).default('auto'),
  api: z.enum(['s3v4', 'S3v4', '']).default('s3v4'),
  arn: text,
  type: z.literal('replication'),
  region: text,
  bandwidthlimit: z.int().nonnegative().default(0),
  replicationSync: z.boolean().default(false),
  storageclass: z.enum(['STANDARD', 'REDUCED_REDUNDANCY', '']).default(''),
  /** Nanoseconds. */
  healthCheckDuration: z.int().nonnegative().default(0),
  disableProxy: z.boolean().default(false),
  edge: z.literal(false).optional(),
  edgeSyncBeforeExpiry: z.literal(false).optional(),
  disableSSL: z.literal(false).optional(),
});

const defaultHealthCheckMs = 60_000;
const minHealthCheckMs = 1_000;

async function setRemoteTarget(call: AdminCall): Promise<AdminAnswer> {
  const bucket = call.required('bucket');
  const given = await sealedJsonBody(call, targetSchema);
  const target = fieldsOf(bucket, given);
  if (call.request.headers.host === target.endpoint && bucket === target.targetBucket) {
    throw new S3Error('XMinioAdminRemoteIdenticalToSource');
  }
  if (call.query.get('update') !== 'true') return json(await targetsOf(call).add(target));
  return json(await targetsOf(call).update({ ...target, arn: given.arn ?? '' }, updatedFields(call.query)));
}

function fieldsOf(sourceBucket: string, given: z.infer<typeof targetSchema>): RemoteTargetFields {
  const { endpoint, credentials, targetbucket, secure, healthCheckDuration, storageclass } = given;
  const issue = bucketNameError(targetbucket);
  if (issue !== undefined) throw invalid(`The target bucket ${targetbucket.slice(0, 64)} ${issue}.`);
  if (!/^[\w.-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i.test(endpoint)) {
    throw invalid('The endpoint must be HOST or HOST:PORT.');
  }
  const { accessKey = '', secretKey = '', sessionToken = '' } = credentials ?? {};
  if (accessKey === '' || secretKey === '') throw invalid('The target has no credentials.');
  const healthCheckMs = healthCheckDuration / 1e6;
  return {
    sourceBucket,
    endpoint,
    secure,
    targetBucket: targetbucket,
    path: given.path === '' ? 'auto' : given.path,
    region: given.region ?? '',
    accessKey,
    secretKey,
    ...(sessionToken !== '' && { sessionToken }),
    bandwidthLimit: given.bandwidthlimit,
    healthCheckMs: healthCheckMs === 0 ? defaultHealthCheckMs : Math.max(minHealthCheckMs, healthCheckMs),
    ...(storageclass !== '' && { storageClass: storageclass }),
    disableProxy: given.disableProxy,
    ...(given.replicationSync && { sync: true }),
  };
}

const updates = {
  creds: 'place',
  bandwidth: 'bandwidthLimit',
  healthcheck: 'healthCheckMs',
  path: 'path',
  proxy: 'disableProxy',
  sync: 'sync',
} as const;

function updatedFields(query: URLSearchParams): Parameters<RemoteTargets['update']>[1] {
  const names = [...query].filter(([, value]) => value === 'true').map(([name]) => name);
  const other = names.find((name) => name !== 'update' && !Object.hasOwn(updates, name));
  if (other !== undefined) throw invalid(`The change of ${other.slice(0, 64)} is not implemented.`);
  return names.filter((name) => name !== 'update').map((name) => updates[name as keyof typeof updates]);
}

async function listRemoteTargets(call: AdminCall): Promise<AdminAnswer> {
  const type = call.query.get('type') ?? '';
  const bucket = call.query.get('bucket') ?? '';
  if (type !== '' && type !== 'replication')
    throw invalid(`The type ${type.slice(0, 64)} is not known: use replication.`);
  const targets = await targetsOf(call).list(bucket === '' ? undefined : bucket);
  return json(targets.map(shownTarget));
}

function shownTarget({ target, health }: ShownRemoteTarget) {
  return {
    sourcebucket: target.sourceBucket,
    endpoint: target.endpoint,
    credentials: { accessKey: target.accessKey },
    targetbucket: target.targetBucket,
    secure: target.secure,
    path: target.path,
    api: 's3v4',
    arn: target.arn,
    type: 'replication',
    ...(target.region !== '' && { region: target.region }),
    ...(target.bandwidthLimit > 0 && { bandwidthlimit: target.bandwidthLimit }),
    replicationSync: target.sync === true,
    ...(target.storageClass !== undefined && { storageclass: target.storageClass }),
    healthCheckDuration: target.healthCheckMs * 1e6,
    disableProxy: target.disableProxy,
    // An extension, which clients of MinIO ignore.
    ...(target.kind && { kind: target.kind }),
    resetBeforeDate: target.resync === undefined ? noTime : new Date(target.resync.before).toISOString(),
    ...(target.resync && { resetID: target.resync.id }),
    totalDowntime: (health?.downtimeMs ?? 0) * 1e6,
    lastOnline: health?.lastOnline === undefined ? noTime : new Date(health.lastOnline).toISOString(),
    isOnline: health?.online ?? true,
    latency: { curr: (health?.latencyMs ?? 0) * 1e6, avg: 0, max: (health?.maxLatencyMs ?? 0) * 1e6 },
    edge: false,
    edgeSyncBeforeExpiry: false,
    offlineCount: health?.outages ?? 0,
  };
}

/** Go writes no time as the year 1. */
const noTime = '0001-01-01T00:00:00Z';

async function removeRemoteTarget(call: AdminCall): Promise<AdminAnswer> {
  await targetsOf(call).remove(call.required('bucket'), call.required('arn'));
  return { kind: 'none', status: 204 };
}

function targetsOf({ services: { remoteTargets } }: AdminCall): RemoteTargets {
  if (remoteTargets !== undefined) return remoteTargets;
  throw adminError('XCofferRefused', 'This server does not replicate buckets.');
}

function invalid(message: string): RequestError {
  return adminError('XCofferInvalidRequest', message);
}
