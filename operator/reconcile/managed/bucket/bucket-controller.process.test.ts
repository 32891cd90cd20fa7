import {
  DeleteBucketTaggingCommand,
  DeleteObjectCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  HeadBucketCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transitionMinimumHeader } from '../../../../protocol/s3/lifecycle/transition-minimum.ts';
import { freePort } from '../../../../test/support/process/free-port.ts';
import { refusal, s3Client } from '../../../../test/support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../../../test/support/server/start-server.ts';
import type { BucketSpec } from '../../../api/bucket.ts';
import type { Bucket, Tenant } from '../../../api/object.ts';
import { contextOf } from '../../../../test/support/operator/test-tenant.ts';
import type { ManagedStatus, TenantAccess } from '../controller.ts';
import { endpointOf, exchange } from '../signed-request.ts';
import { createBucketController } from './bucket-controller.ts';

let server: RunningServer;
let access: TenantAccess;
const changed: string[] = [];
const controller = createBucketController({
  onChanged: (_, differences) => changed.push(...differences),
  random: () => 0,
});

beforeAll(async () => {
  // A store that is bound to a region refuses the usual one at first.
  const webhook = { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: 'http://127.0.0.1:9/' };
  server = await startServer({ env: { SVC_REGION: 'eu-test-1', ...webhook } });
  await untilReady(server);
  access = {
    tenant: { kind: 'Tenant', metadata: { name: 'demo' }, spec: {} } as unknown as Tenant,
    address: new URL(server.s3).host,
    rootUser: server.accessKey,
    rootPassword: server.secretKey,
  };
});
afterAll(() => server.stop());

const s3 = () => s3Client(server, { region: 'eu-test-1' });
const bucket = (name: string, spec: Partial<BucketSpec> = {}): Bucket => ({
  kind: 'Bucket',
  metadata: { name },
  spec: { tenantRef: { name: 'demo' }, deletionPolicy: 'Retain', ...spec },
});
const policy = (name: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${name}/*` }],
});
/** The status of each resource, as the last pass left it. */
const statuses = new Map<string, ManagedStatus>();
const pass = async (resource: Bucket, to = access) => {
  changed.length = 0;
  const { name } = resource.metadata;
  const context = contextOf(to, { status: statuses.get(name) ?? {} });
  const { conditions, afterMs, status } = await controller.reconcile(resource, context);
  statuses.set(name, Object.assign({}, statuses.get(name), ...context.remembered, status));
  return { ready: conditions.find(({ type }) => type === 'Ready'), types: conditions.map(({ type }) => type), afterMs };
};

async function rules() {
  const found = await s3().send(new GetBucketNotificationConfigurationCommand({ Bucket: 'observed' }));
  return (found.QueueConfigurations ?? []).map(({ QueueArn, Events }) => ({ QueueArn, Events }));
}

/** The SDK of AWS has no fields for the prefixes that versions exclude. */
const versioningCall = async (name: string, method: 'GET' | 'PUT', body = '') => {
  const call = { method, path: `/${name}`, query: 'versioning=', body, service: 's3', region: 'eu-test-1' } as const;
  const answer = await exchange(endpointOf(access), call, new Date());
  expect(answer.status).toBe(200);
  return answer.body.toString();
};
const lifecycleCall = (method: 'GET' | 'PUT', body = '', headers = {}) => {
  const call = {
    method,
    path: '/tidied',
    query: 'lifecycle=',
    body,
    headers,
    service: 's3',
    region: 'eu-test-1',
  } as const;
  return exchange(endpointOf(access), call, new Date());
};
const putVersioning = (name: string, inside: string) =>
  versioningCall(name, 'PUT', `<VersioningConfiguration>${inside}</VersioningConfiguration>`);
const versioningOf = (name: string) => versioningCall(name, 'GET');

describe('a bucket', () => {
  it('is made, set as the resource says, and left alone afterwards', async () => {
    const resource = bucket('resource', { bucketName: 'photos', tags: { team: 'a' }, policy: policy('photos') });
    expect(await pass(resource)).toEqual({
      ready: {
        type: 'Ready',
        status: 'True',
        reason: 'Ready',
        message: 'the bucket "photos" of tenant "demo" is as it should be',
      },
      types: ['Ready'],
      afterMs: 240_000,
    });
    expect(changed).toEqual(['there is no such bucket', 'tags differ: team', 'there is no policy']);
    const { TagSet } = await s3().send(new GetBucketTaggingCommand({ Bucket: 'photos' }));
    expect(TagSet).toEqual([{ Key: 'team', Value: 'a' }]);
    await pass(resource);
    expect(changed).toEqual([]);
  });

  it('that was changed by hand is repaired, and what differed is told', async () => {
    const resource = bucket('drifting', { tags: { team: 'a' } });
    await pass(resource);
    await s3().send(new DeleteBucketTaggingCommand({ Bucket: 'drifting' }));
    expect((await pass(resource)).ready).toMatchObject({ status: 'True' });
    expect(changed).toEqual(['tags differ: team']);
  });

  it('keeps what others set, and loses what is taken out of the resource', async () => {
    const named = bucket('shared', { tags: { team: 'a' }, policy: policy('shared') });
    await pass(named);
    const TagSet = [
      { Key: 'by', Value: 'hand' },
      { Key: 'team', Value: 'b' },
    ];
    await s3().send(new PutBucketTaggingCommand({ Bucket: 'shared', Tagging: { TagSet } }));
    await pass(named);
    expect(changed).toEqual(['tags differ: team']);
    await pass(bucket('shared'));
    expect(changed).toEqual(['tags differ: team', 'there is a policy and should be none']);
    const { code } = await refusal(s3().send(new GetBucketPolicyCommand({ Bucket: 'shared' })));
    expect(code).toBe('NoSuchBucketPolicy');
    await s3().send(new PutBucketPolicyCommand({ Bucket: 'shared', Policy: JSON.stringify(policy('shared')) }));
    await pass(bucket('shared'));
    expect(changed).toEqual([]);
    expect((await s3().send(new GetBucketTaggingCommand({ Bucket: 'shared' }))).TagSet).toEqual(TagSet.slice(0, 1));
  });

  it('keeps the prefixes without versions that others excluded', async () => {
    const resource = bucket('excluding', { versioning: 'Enabled' });
    await pass(resource);
    await putVersioning(
      'excluding',
      '<Status>Enabled</Status><ExcludedPrefixes><Prefix>tmp/</Prefix></ExcludedPrefixes>',
    );
    await pass(resource);
    expect(changed).toEqual([]);
    await putVersioning('excluding', '<Status>Suspended</Status><ExcludeFolders>true</ExcludeFolders>');
    await pass(resource);
    expect(changed).toEqual(['versioning is Suspended and should be Enabled']);
    expect(await versioningOf('excluding')).toContain('<ExcludeFolders>true</ExcludeFolders>');
  });

  it('keeps whether small objects move to tiers, which others set', async () => {
    await pass(bucket('tidied', { lifecycle: [{ expiration: { days: 1 } }] }));
    const rules = await lifecycleCall('GET');
    const minimum = 'all_storage_classes_128K';
    await lifecycleCall('PUT', rules.body.toString(), { [transitionMinimumHeader]: minimum });
    await pass(bucket('tidied', { lifecycle: [{ expiration: { days: 2 } }] }));
    expect(changed).toEqual(['lifecycle differs: there should be 1 rule, and there is 1']);
    const found = await lifecycleCall('GET');
    expect(found.body.toString()).toContain('<Days>2</Days>');
    expect(found.headers[transitionMinimumHeader]).toBe(minimum);
  });

  it('whose policy the store refuses says what differs and why', async () => {
    const { ready, types, afterMs } = await pass(bucket('refused', { policy: policy('another') }));
    expect(ready).toMatchObject({ status: 'False', reason: 'InvalidPolicy' });
    expect(ready?.message).toMatch(
      /there is no policy, which cannot be changed: .*"arn:aws:s3:::another\/\*" is not of this bucket/,
    );
    expect(types).toContain('Stalled');
    expect(afterMs).toBeGreaterThan(60_000);
  });

  it('has its rules of notifications, which are repaired, and says where a target is unknown', async () => {
    const rule = { target: 'A:webhook', events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'], suffix: '.jpg' };
    const resource = bucket('observed', { notifications: [rule] });
    await pass(resource);
    expect(changed).toEqual(['there is no such bucket', 'notifications differ: they should go to A:webhook']);
    expect(await rules()).toEqual([{ QueueArn: 'arn:minio:sqs::A:webhook', Events: rule.events }]);
    await pass(resource);
    expect(changed).toEqual([]);
    await pass(bucket('observed'));
    expect((await rules()).length).toBe(1);
    await pass(bucket('observed', { notifications: [] }));
    expect(await rules()).toEqual([]);
    const { ready } = await pass(bucket('observed', { notifications: [{ ...rule, target: 'B:webhook' }] }));
    expect(ready).toMatchObject({ status: 'False', reason: 'RefusedByTenant' });
    expect(ready?.message).toMatch(/B:webhook, which cannot be changed: .*destination/);
  });

  it('that is to be encrypted where the tenant has no key service says so', async () => {
    const { ready } = await pass(bucket('unencrypted', { encryption: { algorithm: 'AES256' } }));
    expect(ready).toMatchObject({ status: 'False', reason: 'RefusedByTenant' });
    expect(ready?.message).toMatch(/encryption is off and should be AES256/);
  });
});

describe('a tenant', () => {
  it('that cannot be reached is waited for', async () => {
    const { ready, types } = await pass(bucket('photos'), { ...access, address: `127.0.0.1:${await freePort()}` });
    expect(ready).toMatchObject({ status: 'False', reason: 'TenantUnreachable' });
    expect(types).toContain('Reconciling');
  });

  it('that refuses the credentials is told apart', async () => {
    const { ready } = await pass(bucket('photos'), { ...access, rootPassword: 'not-the-password' });
    expect(ready).toMatchObject({ status: 'False', reason: 'CredentialsRefused' });
    expect(ready?.message).not.toContain('not-the-password');
  });
});

const exists = (Bucket: string) =>
  s3()
    .send(new HeadBucketCommand({ Bucket }))
    .then(
      () => true,
      () => false,
    );

describe('a resource that is deleted', () => {
  it('leaves its bucket where it says Retain', async () => {
    await pass(bucket('kept'));
    expect(await controller.remove(bucket('kept'), contextOf(access))).toMatchObject({ done: true });
    expect(await exists('kept')).toBe(true);
  });

  it('takes an empty bucket with it where it says Delete, and one that is gone', async () => {
    const resource = bucket('going', { deletionPolicy: 'Delete' });
    await pass(resource);
    expect(await controller.remove(resource, contextOf(access))).toMatchObject({ done: true });
    expect(await exists('going')).toBe(false);
    expect(await controller.remove(resource, contextOf(access))).toMatchObject({ done: true });
  });

  it('stays while its bucket holds objects, and says what to do', async () => {
    const resource = bucket('full', { deletionPolicy: 'Delete' });
    await pass(resource);
    await s3().send(new PutObjectCommand({ Bucket: 'full', Key: 'k', Body: 'x' }));
    const rejected = await controller.remove(resource, contextOf(access));
    expect(rejected).toMatchObject({
      done: false,
      conditions: [{ type: 'Ready', status: 'False', reason: 'BucketNotEmpty' }],
    });
    expect(rejected.conditions[0]?.message).toMatch(/delete them, or set spec.deletionPolicy to Retain/);
    expect(await exists('full')).toBe(true);
    await s3().send(new DeleteObjectCommand({ Bucket: 'full', Key: 'k' }));
    expect(await controller.remove(resource, contextOf(access))).toMatchObject({ done: true });
  });

  it('waits for nobody where its tenant is gone, but for a tenant that is away', async () => {
    const resource = bucket('orphan', { deletionPolicy: 'Delete' });
    expect(await controller.remove(resource, undefined)).toMatchObject({ done: true });
    const away = { ...access, address: `127.0.0.1:${await freePort()}` };
    expect(await controller.remove(resource, contextOf(away))).toMatchObject({ done: false });
  });
});
