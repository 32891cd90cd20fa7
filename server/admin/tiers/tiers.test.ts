import { describe, expect, it } from 'vitest';
import { adminTest } from '../../../test/support/admin/admin.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { TierFields } from '../../../protocol/admin/tier.ts';

const place = {
  Endpoint: 'https://cold.example:9000',
  AccessKey: 'access',
  SecretKey: 'a secret',
  Bucket: 'cold',
  Prefix: '/below/',
  Region: 'eu-1',
};
const account = { AccountName: 'company', AccountKey: 'a2V5', Bucket: 'cold', Prefix: '/below/' };
const googleFile = JSON.stringify({ type: 'service_account', client_email: 'a@b.example', private_key: 'pem' });
const googleKeys = { accessKey: 'a@b.example', secretKey: googleFile };
const google = {
  // As mc sends it.
  Endpoint: 'https://storage.googleapis.com/',
  Creds: Buffer.from(googleFile).toString('base64'),
  Bucket: 'cold',
  Prefix: '/below/',
  Region: 'EU',
  StorageClass: 'NEARLINE',
};
const sent = { Version: 'v1', Type: 'minio', Name: 'COLD', MinIO: place };
const stored: TierFields = {
  name: 'COLD',
  type: 'minio',
  endpoint: 'https://cold.example:9000',
  region: 'eu-1',
  bucket: 'cold',
  prefix: 'below',
  storageClass: '',
  accessKey: 'access',
  secretKey: 'a secret',
};

const noUsage = {
  began: 1,
  ended: 2,
  answers: 0,
  unreadable: 0,
  deleteMarkers: 1,
  buckets: [],
  uploads: 0,
  uploadBytes: 0,
  sizes: [],
};

async function tierTest() {
  const calls: unknown[][] = [];
  const { secretKey: _secret, ...shown } = stored;
  const call =
    (name: string) =>
    (...given: readonly unknown[]) => {
      calls.push([name, ...given]);
      return given[0] === 'ABSENT' ? Promise.reject(new S3Error('XMinioAdminTierNotFound')) : Promise.resolve();
    };
  const admin = await adminTest({
    services: {
      tiers: {
        list: () => Promise.resolve([shown]),
        add: call('add'),
        edit: call('edit'),
        remove: call('remove'),
        verify: call('verify'),
      },
      usage: {
        last: () =>
          Promise.resolve({
            ...noUsage,
            objects: 5,
            versions: 9,
            bytes: 100,
            tiers: { COLD: { objects: 2, versions: 3, bytes: 40 } },
          }),
        countNow: () => Promise.reject(new Error('nobody asks for a count')),
      },
    },
  });
  return { ...admin, calls };
}

describe('the calls of mc ilm tier', () => {
  it('add a tier, of a bucket that is not empty if asked to', async () => {
    const { call, calls } = await tierTest();
    expect(await call('root', 'PUT', 'tier?force=false', { sealed: sent })).toMatchObject({ status: 204 });
    const aws = { ...sent, Type: 's3', MinIO: undefined, S3: { ...place, Endpoint: '', StorageClass: 'GLACIER_IR' } };
    expect(await call('root', 'PUT', 'tier?force=true', { sealed: aws })).toMatchObject({ status: 204 });
    expect(calls).toEqual([
      ['add', stored, false],
      ['add', { ...stored, type: 's3', endpoint: 'https://s3.amazonaws.com', storageClass: 'GLACIER_IR' }, true],
    ]);
  });

  it('of Azure are at the endpoint of their account', async () => {
    const { call, calls } = await tierTest();
    const sealed = { Version: 'v1', Type: 'azure', Name: 'COLD', Azure: { ...account, StorageClass: 'Cool' } };
    expect(await call('root', 'PUT', 'tier', { sealed })).toMatchObject({ status: 204 });
    const added = {
      ...stored,
      type: 'azure',
      region: '',
      storageClass: 'Cool',
      accessKey: 'company',
      secretKey: 'a2V5',
    };
    expect(calls).toEqual([['add', { ...added, endpoint: 'https://company.blob.core.windows.net' }, false]]);
    expect(await call('root', 'POST', 'tier/COLD', { sealed: { secret: 'b3RoZXI=' } })).toMatchObject({ status: 204 });
    expect(calls.at(-1)).toEqual(['edit', 'COLD', { secretKey: 'b3RoZXI=' }]);
  });

  it('of Google have the file of a key of a service account', async () => {
    const { call, calls } = await tierTest();
    const sealed = { Version: 'v1', Type: 'gcs', Name: 'COLD', GCS: google };
    expect(await call('root', 'PUT', 'tier', { sealed })).toMatchObject({ status: 204 });
    const added = { ...stored, type: 'gcs', region: 'EU', storageClass: 'NEARLINE', ...googleKeys };
    expect(calls).toEqual([['add', { ...added, endpoint: 'https://storage.googleapis.com' }, false]]);
    const update = { creds: google.Creds, awsrole: false };
    expect(await call('root', 'POST', 'tier/COLD', { sealed: update })).toMatchObject({ status: 204 });
    expect(calls.at(-1)).toEqual(['edit', 'COLD', googleKeys]);
  });

  it.each<readonly [string, object, string]>([
    ['of another type', { ...sent, Type: 'tape' }, 'XMinioAdminTierTypeUnsupported'],
    ['of Google without fields', { ...sent, Type: 'gcs' }, 'XMinioAdminTierInvalidConfig'],
    ...(
      [
        { Creds: '' },
        { Creds: Buffer.from('{"type":"authorized_user"}').toString('base64') },
        { Bucket: 'A B' },
        { StorageClass: 'GLACIER' },
        { Endpoint: 'https://x/a' },
        { Prefix: 'x'.repeat(513) },
      ] as const
    ).map(
      (wrong) =>
        [
          `of Google with ${JSON.stringify(wrong).slice(0, 60)}`,
          { ...sent, Type: 'gcs', MinIO: undefined, GCS: { ...google, ...wrong } },
          'XMinioAdminTierInvalidConfig',
        ] as const,
    ),
    ['of Azure without fields', { ...sent, Type: 'azure' }, 'XMinioAdminTierInvalidConfig'],
    ...(
      [
        { AccountName: 'A b' },
        { AccountKey: '' },
        { Bucket: 'a--b' },
        { StorageClass: 'Archive' },
        { Endpoint: 'https://x/a/b' },
        { SPAuth: { TenantID: 'a' } },
      ] as const
    ).map(
      (wrong) =>
        [
          `of Azure with ${JSON.stringify(wrong)}`,
          { ...sent, Type: 'azure', MinIO: undefined, Azure: { ...account, ...wrong } },
          'XMinioAdminTierInvalidConfig',
        ] as const,
    ),
    ['without fields', { ...sent, MinIO: undefined }, 'XMinioAdminTierInvalidConfig'],
    ['without a secret key', { ...sent, MinIO: { ...place, SecretKey: '' } }, 'XMinioAdminTierInvalidConfig'],
    ['with a role', { ...sent, MinIO: { ...place, AWSRole: true } }, 'XMinioAdminTierInvalidConfig'],
    ['with no bucket name', { ...sent, MinIO: { ...place, Bucket: 'A B' } }, 'XMinioAdminTierInvalidConfig'],
    ...['cold.example', 'ftp://cold.example', 'https://user:secret@cold.example', 'https://cold.example/path'].map(
      (Endpoint) =>
        [`at ${Endpoint}`, { ...sent, MinIO: { ...place, Endpoint } }, 'XMinioAdminTierInvalidConfig'] as const,
    ),
  ])('refuse one %s', async (_, tier, Code) => {
    const { call, calls } = await tierTest();
    expect(await call('root', 'PUT', 'tier', { sealed: tier })).toMatchObject({ status: 400, value: { Code } });
    expect(calls).toEqual([]);
  });

  it('list tiers without their secret keys', async () => {
    const { call } = await tierTest();
    const { value } = await call('root', 'GET', 'tier');
    expect(value).toEqual([
      {
        Version: 'v1',
        Type: 'minio',
        Name: 'COLD',
        MinIO: { ...place, Prefix: 'below', SecretKey: 'REDACTED' },
      },
    ]);
  });

  it('change the keys, check a tier and remove it', async () => {
    const { call, calls } = await tierTest();
    const keys = { access: 'new', secret: 'new secret' };
    const statuses = [
      await call('root', 'POST', 'tier/COLD', { sealed: keys }),
      await call('root', 'GET', 'tier/COLD'),
      await call('root', 'DELETE', 'tier/COLD?force=true'),
      await call('root', 'GET', 'tier/ABSENT'),
      await call('root', 'POST', 'tier/COLD', { sealed: { creds: 'eyJ9' } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([204, 204, 204, 404, 400]);
    expect(calls).toEqual([
      ['edit', 'COLD', { accessKey: 'new', secretKey: 'new secret' }],
      ['verify', 'COLD'],
      ['remove', 'COLD', true],
      ['verify', 'ABSENT'],
    ]);
  });

  it('show what is in each tier, and what is not', async () => {
    const { call } = await tierTest();
    expect((await call('root', 'GET', 'tier-stats')).value).toMatchObject([
      { Name: 'STANDARD', Type: 'internal', Stats: { totalSize: 60, numVersions: 6, numObjects: 3 } },
      { Name: 'COLD', Type: 'minio', Stats: { totalSize: 40, numVersions: 3, numObjects: 2 } },
    ]);
  });

  it('need admin:SetTier and admin:ListTier', async () => {
    const { call, identities, calls } = await tierTest();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    for (const [method, path] of [
      ['PUT', 'tier'],
      ['GET', 'tier'],
      ['GET', 'tier-stats'],
      ['POST', 'tier/COLD'],
      ['DELETE', 'tier/COLD'],
      ['GET', 'tier/COLD'],
    ] as const) {
      expect(await call('ann', method, path, { sealed: sent })).toMatchObject({ status: 403, bytesRead: 0 });
    }
    expect(calls).toEqual([]);
  });
});
