import {
  CreateBucketCommand,
  DeleteBucketReplicationCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketReplicationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketSpec } from '../../../api/bucket.ts';
import type { Bucket } from '../../../api/object.ts';
import type { Secret } from '../../../contract/secret.ts';
import { s3Client } from '../../../../test/support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../../../test/support/server/start-server.ts';
import { TestTenant } from '../../../../test/support/operator/test-tenant.ts';
import type { ManagedStatus } from '../controller.ts';
import { createBucketController } from './bucket-controller.ts';

let tenant: TestTenant;
let other: RunningServer;
beforeAll(async () => {
  [tenant, other] = await Promise.all([TestTenant.start(), startServer()]);
  await untilReady(other);
  for (const Bucket of ['copy', 'copy-two']) {
    await s3Client(other).send(new CreateBucketCommand({ Bucket }));
    await s3Client(other).send(
      new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
    );
  }
});
afterAll(() => Promise.all([tenant.server.stop(), other.stop()]));

const controller = () => createBucketController(tenant.options);
const s3 = () => s3Client(tenant.server);
const bucket = (name: string, spec: object): Bucket => ({
  kind: 'Bucket',
  metadata: { name },
  spec: bucketSpec.parse({ tenantRef: { name: 'demo' }, ...spec }),
});
const secretOf = (data: Record<string, string>, uses: Secret['uses'] = new Set(['replication'])): Secret => ({
  name: 'dr',
  data,
  uses,
});
const keys = () => secretOf({ accessKey: other.accessKey, secretKey: other.secretKey });

const replicated = (name: string, more: object = {}, rules: readonly object[] = [{ target: 'dr' }]) =>
  bucket(name, {
    versioning: 'Enabled',
    replication: {
      targets: [{ name: 'dr', endpoint: other.s3, bucket: 'copy', credentialsSecret: { name: 'dr' }, ...more }],
      rules,
    },
  });
const pass = (resource: Bucket, status: ManagedStatus = {}, secrets = [keys()]) =>
  tenant.pass(controller(), resource, { status, secrets });

describe('a bucket with lifecycle rules', () => {
  it('has them, is repaired, and loses them where the list is empty', async () => {
    const resource = bucket('lifecycle', { lifecycle: [{ prefix: 'logs/', expiration: { days: 7 } }] });
    expect((await tenant.pass(controller(), resource)).ready).toBe('True Ready');
    const Rules = [{ ID: 'by-hand', Status: 'Enabled' as const, Filter: { Prefix: '' }, Expiration: { Days: 1 } }];
    await s3().send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: 'lifecycle', LifecycleConfiguration: { Rules } }),
    );
    const repaired = await tenant.pass(controller(), resource);
    expect(repaired.changed).toEqual(['lifecycle differs: there should be 1 rule, and there is 1']);
    const found = await s3().send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'lifecycle' }));
    expect(found.Rules).toEqual([
      { ID: 'operator-1', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 7 } },
    ]);
    expect((await tenant.pass(controller(), resource)).changed).toEqual([]);
    expect((await tenant.pass(controller(), bucket('lifecycle', {}))).changed).toEqual([]);
    expect((await tenant.pass(controller(), bucket('lifecycle', { lifecycle: [] }))).changed).toEqual([
      'lifecycle differs: there should be no rule, and there is 1',
    ]);
  });

  it('waits for a tier that is not there yet', async () => {
    const resource = bucket('no-tier', { lifecycle: [{ transition: { days: 1, tier: 'COLD' } }] });
    const { ready, message, types } = await tenant.pass(controller(), resource);
    expect([ready, message]).toEqual(['False TierNotFound', expect.stringMatching(/There is no tier COLD/)]);
    expect(types).toContain('Reconciling');
  });
});

describe('a bucket that is replicated', () => {
  it('has versioning, target and rule, sends its objects, and is repaired', async () => {
    const resource = replicated('sent');
    const first = await pass(resource);
    expect(first.ready).toBe('True Ready');
    expect(first.changed).toEqual([
      'there is no such bucket',
      'versioning is off and should be Enabled',
      'there is no replication target "dr"',
      'replication rules differ: they should send to dr',
    ]);
    const status = first.remembered.at(-1) ?? {};
    expect(status.replicationTargets?.map(({ name }) => name)).toEqual(['dr']);
    expect(JSON.stringify(status)).not.toContain(other.secretKey);
    expect((await pass(resource, status)).changed).toEqual([]);
    await s3().send(new PutObjectCommand({ Bucket: 'sent', Key: 'k', Body: 'x' }));
    await expect
      .poll(
        () =>
          s3Client(other)
            .send(new GetObjectCommand({ Bucket: 'copy', Key: 'k' }))
            .then(
              () => true,
              () => false,
            ),
        {
          timeout: 90_000,
        },
      )
      .toBe(true);
    await s3().send(new DeleteBucketReplicationCommand({ Bucket: 'sent' }));
    await s3().send(
      new PutBucketVersioningCommand({ Bucket: 'sent', VersioningConfiguration: { Status: 'Suspended' } }),
    );
    expect((await pass(resource, status)).changed).toEqual([
      'versioning is Suspended and should be Enabled',
      // The server removes the targets with the configuration.
      'there is no replication target "dr"',
      'replication rules differ: they should send to dr',
    ]);
    expect((await s3().send(new GetBucketVersioningCommand({ Bucket: 'sent' }))).Status).toBe('Enabled');
  });

  it('gets what changed of its target: options, and credentials that a Secret has anew', async () => {
    const status = (await pass(replicated('updated'))).remembered.at(-1) ?? {};
    const proxied = await pass(replicated('updated', { disableProxy: true, bandwidthLimit: '200M' }), status);
    expect(proxied.changed).toEqual(['the replication target "dr" differs: bandwidthLimit, disableProxy']);
    const old: ManagedStatus = {
      replicationTargets: (status.replicationTargets ?? []).map((target) => ({ ...target, credentials: 'other' })),
    };
    const rotated = await pass(replicated('updated', { disableProxy: true, bandwidthLimit: '200M' }), old);
    expect(rotated.changed).toEqual(['the replication target "dr" differs: credentials']);
    expect(rotated.remembered.at(-1)?.replicationTargets).toEqual(status.replicationTargets);
  });

  it('loses a target that is no longer named, after its rules', async () => {
    const status = (await pass(replicated('moved'))).remembered.at(-1) ?? {};
    const moved = await pass(replicated('moved', { bucket: 'copy-two' }), status);
    expect(moved.changed).toEqual([
      'there is no replication target "dr"',
      'replication rules differ: they should send to dr',
      'the replication target "dr" is no longer named',
    ]);
    const left = await pass(bucket('moved', { versioning: 'Enabled', replication: {} }), moved.remembered.at(-1));
    expect(left.changed).toEqual([
      'replication rules differ: they should send to none',
      'the replication target "dr" is no longer named',
    ]);
    expect(left.remembered.at(-1)?.replicationTargets).toEqual([]);
    const query = { bucket: 'moved', type: 'replication' };
    expect(await tenant.admin({ method: 'GET', path: 'v3/list-remote-targets', query })).toEqual([]);
    await expect(s3().send(new GetBucketReplicationCommand({ Bucket: 'moved' }))).rejects.toMatchObject({
      name: 'ReplicationConfigurationNotFoundError',
    });
  });

  it.each([
    ['is missing', [], 'SecretNotFound'],
    ['may not be used for this', [secretOf({ accessKey: 'a', secretKey: 'b' }, new Set(['tier']))], 'SecretNotAllowed'],
    ['lacks a key', [secretOf({ accessKey: 'a' })], 'SecretKeyMissing'],
  ])('says so where its Secret %s', async (_, secrets: readonly Secret[], reason) => {
    const { ready, message } = await pass(replicated('refused'), {}, [...secrets]);
    expect(ready).toBe(`False ${reason}`);
    expect(message).toContain('spec.replication.targets[0].credentialsSecret names');
    // The rest of the bucket is set.
    expect((await s3().send(new GetBucketVersioningCommand({ Bucket: 'refused' }))).Status).toBe('Enabled');
  });

  it('says so where the other bucket is not there, or refuses its keys', async () => {
    const gone = await pass(replicated('unusable', { bucket: 'not-there' }));
    expect(gone.ready).toBe('False ReplicationTargetUnusable');
    const wrong = [secretOf({ accessKey: other.accessKey, secretKey: 'not-the-secret-key' })];
    const rejected = await pass(replicated('unusable'), {}, wrong);
    expect(rejected.ready).toBe('False ReplicationTargetUnreachable');
    expect(rejected.message).not.toContain('not-the-secret-key');
  });
});
