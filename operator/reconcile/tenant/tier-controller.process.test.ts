import { generateKeyPairSync } from 'node:crypto';
import { CreateBucketCommand, PutBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Secret } from '../../contract/secret.ts';
import type { TierSpec } from '../../api/tenant/tier-fields.ts';
import { TestTenant } from '../../../test/support/operator/test-tenant.ts';
import { s3Client } from '../../../test/support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../../test/support/server/start-server.ts';
import type { AddedTier } from '../conditions.ts';
import { describeFailure } from '../managed/create-controller.ts';
import { createTierController } from './tier-controller.ts';

let tenant: TestTenant;
let other: RunningServer;
beforeAll(async () => {
  [tenant, other] = await Promise.all([TestTenant.start(), startServer()]);
  await untilReady(other);
  for (const Bucket of ['cold', 'colder']) await s3Client(other).send(new CreateBucketCommand({ Bucket }));
});
afterAll(() => Promise.all([tenant.server.stop(), other.stop()]));

const tier = (more: Partial<TierSpec> = {}): TierSpec => ({
  name: 'COLD',
  type: 'minio',
  endpoint: other.s3,
  bucket: 'cold',
  credentialsSecret: { name: 'cold' },
  ...more,
});
const keys = (uses: Secret['uses'] = new Set(['tier']), secretKey = other.secretKey): Secret => ({
  name: 'cold',
  uses,
  data: { accessKey: other.accessKey, secretKey },
});

async function pass(wanted: readonly TierSpec[], added: readonly AddedTier[] = [], secret = keys()) {
  const changed: string[] = [];
  const result = await createTierController()(wanted, {
    access: tenant.access,
    secrets: new Map([[secret.name, secret]]),
    fingerprint: (value) => `fingerprint of ${value.length}`,
    added,
    onChanged: (differences) => void changed.push(...differences),
  });
  const failure = result.failure && describeFailure(result.failure.error, 'demo', result.failure.doing);
  return { changed, added: result.added, reason: failure?.reason, message: failure?.message ?? '' };
}

const names = async () =>
  ((await tenant.admin({ method: 'GET', path: 'v3/tier' })) as { Name: string }[]).map(({ Name }) => Name);

function googleSecret(text: string) {
  return { ...keys(), data: { 'key.json': text } };
}

describe('the tiers of a tenant', () => {
  it('are added, left alone, and removed when they are no longer named', async () => {
    const first = await pass([tier()]);
    expect(first).toMatchObject({ changed: ['there is no tier COLD'], reason: undefined });
    expect(JSON.stringify(first.added)).not.toContain(other.secretKey);
    expect((await pass([tier()], first.added)).changed).toEqual([]);
    expect(await names()).toEqual(['COLD']);
    const last = await pass([], first.added);
    expect(last).toMatchObject({ changed: ['the tier COLD is no longer named'], added: [] });
    expect(await names()).toEqual([]);
  });

  it('come back where they were removed by hand, and get new credentials', async () => {
    const { added } = await pass([tier()]);
    await tenant.admin({ method: 'DELETE', path: 'v3/tier/COLD' });
    expect((await pass([tier()], added)).changed).toEqual(['there is no tier COLD']);
    const old = [{ name: 'COLD', credentials: 'other' }];
    expect(await pass([tier()], old)).toMatchObject({ changed: ['the credentials of the tier COLD differ'], added });
    const wrong = await pass([tier()], old, keys(undefined, 'not-the-secret-key'));
    expect(wrong).toMatchObject({ changed: [], added: old, reason: 'TierUnusable' });
    expect(wrong.message).not.toContain('not-the-secret-key');
    await pass([], added);
  });

  it('stay while a rule names them, and the reason is told', async () => {
    const { added } = await pass([tier()]);
    const s3 = s3Client(tenant.server);
    await s3.send(new CreateBucketCommand({ Bucket: 'moving' }));
    const Transitions = [{ Days: 1, StorageClass: 'COLD' as 'GLACIER' }];
    const Rules = [{ ID: 'r', Status: 'Enabled' as const, Filter: { Prefix: '' }, Transitions }];
    const LifecycleConfiguration = { Rules };
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket: 'moving', LifecycleConfiguration }));
    const kept = await pass([], added);
    expect(kept).toMatchObject({ changed: [], added, reason: 'TierInUse' });
    expect(kept.message).toMatch(/the tier COLD cannot be removed: .*moving/);
  });

  it('that are elsewhere already are told, and the others are set', async () => {
    const { added, changed, reason, message } = await pass([
      tier({ bucket: 'colder' }),
      tier({ name: 'NEXT', bucket: 'colder' }),
    ]);
    expect(reason).toBe('TierDiffers');
    expect(message).toContain('bucket cold, which differs');
    expect([changed, added.map(({ name }) => name)]).toEqual([['there is no tier NEXT'], ['NEXT']]);
  });

  it('whose Secret may not be used for them are refused', async () => {
    const { reason, message } = await pass([tier({ name: 'OTHER' })], [], keys(new Set(['replication'])));
    expect(reason).toBe('SecretNotAllowed');
    expect(message).toContain('kubectl label secret cold coffer.dev/use-tier=true');
  });

  it('of Azure have the name and the key of their account in the Secret', async () => {
    const azure = { name: 'BLOBS', type: 'azure', bucket: 'cold', endpoint: 'http://127.0.0.1:9' } as const;
    expect((await pass([tier({ ...azure })])).reason).toBe('SecretKeyMissing');
    const secret = { ...keys(), data: { accountName: 'company', accountKey: 'a2V5' } };
    const { reason, message } = await pass([tier({ ...azure })], [], secret);
    expect(reason).toBe('TierUnreachable');
    expect(message).not.toContain('a2V5');
  });

  it('of Google have the file of a key in the Secret', async () => {
    const google = { name: 'GOOGLE', type: 'gcs', bucket: 'cold', endpoint: 'http://127.0.0.1:9' } as const;
    expect((await pass([tier({ ...google })])).reason).toBe('SecretKeyMissing');
    const key = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    const file = { type: 'service_account', client_email: 'coffer@project.example', private_key: key };
    const { reason, message } = await pass([tier({ ...google })], [], googleSecret(JSON.stringify(file)));
    expect(reason).toBe('TierUnreachable');
    expect(message).not.toContain('PRIVATE KEY');
    expect((await pass([tier({ ...google })], [], googleSecret('{}'))).message).toContain('no file of a key');
  });

  it('whose bucket is not there are refused', async () => {
    expect((await pass([tier({ name: 'GONE', bucket: 'not-there' })])).reason).toBe('TierUnusable');
  });
});
