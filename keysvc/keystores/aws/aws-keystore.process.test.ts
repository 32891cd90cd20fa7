import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AwsKeyStoreSettings } from '../keystore-settings.ts';
import { first, VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import { remoteKeyStoreConformance } from '../../../test/support/keysvc/remote.conformance.ts';
import { AwsDouble, awsLogin } from '../../../test/support/keysvc/aws-double.ts';
import { AwsKeyStore } from './aws-keystore.ts';

function settingsFor(double: AwsDouble, more: Partial<AwsKeyStoreSettings> = {}): AwsKeyStoreSettings {
  return { kind: 'aws', endpoint: double.http.url, region: 'eu-west-1', credentials: awsLogin, ...more };
}

const target = (request: { headers: Record<string, unknown> }) => String(request.headers['x-amz-target']);

remoteKeyStoreConformance({
  name: 'AWS Secrets Manager',
  async start() {
    const clock = new VirtualClock();
    const double = await AwsDouble.start(clock);
    return {
      clock,
      http: double.http,
      open: (options) => new AwsKeyStore(settingsFor(double), { clock, ...options }),
      trash: { delete: (name) => double.scheduleDeletion(name), recover: (name) => double.restore(name) },
      deny: (action) => double.denied.add(action),
      allowOnly: (key) => void (double.onlySecret = key),
      close: () => double.http.close(),
    };
  },
  isForKeys: () => true,
  isWrite: (request) => target(request) === 'secretsmanager.CreateSecret',
  secrets: [awsLogin.secretKey, awsLogin.sessionToken],
  permissions: [
    ['create', 'CreateSecret', '"secretsmanager:CreateSecret"'],
    ['get', 'GetSecretValue', '"secretsmanager:GetSecretValue"'],
    ['delete', 'DeleteSecret', '"secretsmanager:DeleteSecret"'],
    ['list', 'ListSecrets', '"secretsmanager:ListSecrets"'],
  ],
});

const openWithout = (double: AwsDouble) => {
  const { credentials: _, ...settings } = settingsFor(double);
  return new AwsKeyStore(settings, { clock: double.clock, attemptMs: 60_000 });
};

/** The environment has no credentials for AWS's programs. */
const nowhere = () => {
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/nonexistent');
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
};

describe('AWS Secrets Manager', () => {
  const record = Buffer.from('record');
  let double: AwsDouble;
  const open = (more: Partial<AwsKeyStoreSettings> = {}) =>
    new AwsKeyStore(settingsFor(double, more), { clock: double.clock, attemptMs: 60_000 });

  beforeEach(async () => {
    double = await AwsDouble.start(new VirtualClock());
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await double.http.close();
  });

  it('throttles by an error with status 400, which is sat out', async () => {
    const throttled = { status: 400, body: { __type: 'ThrottlingException', Message: 'Rate exceeded' } };
    double.http.faultOf = first(2, throttled);
    await open().create('my-key', record);
    double.http.faultOf = () => throttled;
    await expect(open().get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('encrypts by the KMS key of the settings, and by its own without', async () => {
    await open({ kmsKey: 'alias/coffer' }).create('one', record);
    await open().create('two', record);
    expect(double.kmsKeys).toEqual(['alias/coffer', undefined]);
  });

  it('does not give away the name of a key that can be restored', async () => {
    const store = open();
    await store.create('my-key', record);
    double.scheduleDeletion('my-key');
    await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    await expect(store.create('my-key', Buffer.from('new'))).rejects.toThrow(
      'aws secretsmanager restore-secret --secret-id my-key',
    );
    await store.delete('my-key');
    await store.create('my-key', Buffer.from('new'));
  });

  it('tells that a key was written over', async () => {
    const store = open();
    await store.create('my-key', record);
    double.put('my-key', 'other');
    await expect(store.get('my-key')).rejects.toMatchObject({
      code: 'corrupted',
      message: expect.stringContaining('was written over') as string,
    });
  });

  it('waits until a new secret is seen', async () => {
    double.http.faultOf = first(
      2,
      { status: 400, body: { __type: 'ResourceNotFoundException', Message: 'not yet' } },
      (request) => target(request) === 'secretsmanager.GetSecretValue',
    );
    await open().create('my-key', record);
  });

  it('names a KMS key that may not be used', async () => {
    double.http.faultOf = first(1, {
      status: 400,
      body: { __type: 'AccessDeniedException', Message: 'Access to KMS is not allowed' },
    });
    await expect(open().get('my-key')).rejects.toThrow('kms:Decrypt');
  });

  it.each<[string, Partial<AwsKeyStoreSettings>, string]>([
    [
      'a wrong secret key',
      { credentials: { ...awsLogin, secretKey: 'wrong-value' } },
      'are secretkey and region right',
    ],
    [
      'an unknown access key',
      { credentials: { ...awsLogin, accessKey: 'AKIDOTHER' } },
      'does not know the credentials',
    ],
    ['another region', { region: 'eu-west-2' }, 'are secretkey and region right'],
  ])('takes no signature with %s', async (_, wrong, message) => {
    const error: unknown = await open(wrong)
      .get('my-key')
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) as string });
    expect(String(error)).not.toContain('wrong-value');
  });

  it('takes no signature by a clock that is off', async () => {
    double.skewSeconds = 3600;
    await expect(open().get('my-key')).rejects.toThrow('is the clock?');
  });

  it('is reached by a machine whose clock is off, by the time that AWS tells', async () => {
    const clock = new VirtualClock();
    clock.advance(3_600_000);
    const store = new AwsKeyStore(settingsFor(double), { clock, attemptMs: 60_000 });
    await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
  });

  describe('without credentials in the settings', () => {
    it("takes those that AWS's own programs find", async () => {
      nowhere();
      vi.stubEnv('AWS_ACCESS_KEY_ID', awsLogin.accessKey);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', awsLogin.secretKey);
      vi.stubEnv('AWS_SESSION_TOKEN', awsLogin.sessionToken);
      const store = openWithout(double);
      await store.create('my-key', record);
      expect(await store.get('my-key')).toEqual(record);
    });

    it('takes new ones where theirs have ended', async () => {
      nowhere();
      vi.stubEnv('AWS_ACCESS_KEY_ID', awsLogin.accessKey);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', awsLogin.secretKey);
      vi.stubEnv('AWS_SESSION_TOKEN', 'one-that-has-ended');
      const store = openWithout(double);
      await expect(store.get('my-key')).rejects.toThrow('does not know the credentials');
      vi.stubEnv('AWS_SESSION_TOKEN', awsLogin.sessionToken);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('says where it looked for them', async () => {
      nowhere();
      await expect(openWithout(double).get('my-key')).rejects.toThrow(
        'neither in keystore.aws.secretsmanager.credentials',
      );
    });
  });
});
