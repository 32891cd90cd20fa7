import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GcpKeyStoreSettings } from '../../config/keystore-settings.ts';
import { remoteKeyStoreConformance } from '../remote/remote.conformance.ts';
import { VirtualClock } from '../remote/virtual-clock.ts';
import { GcpDouble, gcpLogin } from './gcp-double.ts';
import { GcpKeyStore } from './gcp-keystore.ts';
import type { GcpEnvironment } from './gcp-login.ts';

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gcp-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeKeyFile(content: unknown): Promise<GcpEnvironment> {
  const file = join(folder, `key-${count++}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return { GOOGLE_APPLICATION_CREDENTIALS: file };
}

function settingsFor(double: GcpDouble): GcpKeyStoreSettings {
  const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
  return { kind: 'gcp', endpoint: double.http.url, projectId: 'coffer', scopes };
}

remoteKeyStoreConformance({
  name: 'Google Secret Manager',
  async start() {
    const clock = new VirtualClock();
    const double = await GcpDouble.start(clock);
    const environment = await writeKeyFile(double.keyFile);
    return {
      clock,
      http: double.http,
      open: (options) => new GcpKeyStore(settingsFor(double), { clock, ...options }, environment),
      revokeTokens: () => double.revokeTokens(),
      deny: (permission) => double.denied.add(permission),
      close: () => double.http.close(),
    };
  },
  isForKeys: ({ url }) => url.pathname.startsWith('/v1/projects/'),
  isWrite: ({ url }) => url.pathname.endsWith(':addVersion'),
  secrets: [gcpLogin.privateKey.slice(100, 130), 'ya29.'],
  permissions: [
    ['create', 'secrets.create', '"secretmanager.secrets.create"'],
    ['create', 'versions.add', '"secretmanager.versions.add"'],
    ['get', 'versions.access', '"secretmanager.versions.access"'],
    ['delete', 'secrets.delete', '"secretmanager.secrets.delete"'],
    ['list', 'secrets.list', '"secretmanager.secrets.list"'],
  ],
});

describe("Google's Secret Manager", () => {
  const record = Buffer.from('record');
  let double: GcpDouble;
  let environment: GcpEnvironment;
  const open = (by: GcpEnvironment = environment, more: Partial<GcpKeyStoreSettings> = {}) =>
    new GcpKeyStore({ ...settingsFor(double), ...more }, { clock: double.clock, attemptMs: 60_000 }, by);

  beforeEach(async () => {
    double = await GcpDouble.start(new VirtualClock());
    environment = await writeKeyFile(double.keyFile);
  });
  afterEach(() => double.http.close());

  it('creates the key whose creator died between its two calls', async () => {
    double.putEmpty('my-key');
    await expect(open().get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    await open().create('my-key', record);
    expect(await open().get('my-key')).toEqual(record);
  });

  it('leaves a creator that is between its two calls its time', async () => {
    double.putEmpty('my-key');
    const sleeps = double.clock.sleep.bind(double.clock);
    double.clock.sleep = async (ms) => {
      double.put('my-key', 'of the first');
      await sleeps(ms);
    };
    await expect(open().create('my-key', record)).rejects.toMatchObject({ code: 'exists' });
    expect(double.versionsOf('my-key')).toBe(1);
  });

  it('has the key in the first version, whatever is written later', async () => {
    await open().create('my-key', record);
    double.put('my-key', 'other');
    expect(await open().get('my-key')).toEqual(record);
  });

  it('holds back a version that is disabled', async () => {
    await open().create('my-key', record);
    double.disable('my-key', 1);
    await expect(open().get('my-key')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('DISABLED') as string,
    });
  });

  it('says that it is not switched on', async () => {
    const message = 'Secret Manager API has not been used in project 1 before or it is disabled.';
    double.http.faultOf = ({ url }) =>
      url.pathname === '/token'
        ? undefined
        : { status: 403, body: { error: { message, status: 'PERMISSION_DENIED' } } };
    await expect(open().get('my-key')).rejects.toThrow('is not switched on');
  });

  it('is logged in to by the identity of the machine', async () => {
    const store = open({ GCE_METADATA_HOST: new URL(double.http.url).host });
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
    expect(double.logins).toBe(1);
  });

  it.each<[string, unknown, string]>([
    ['is of another kind', { type: 'external_account' }, 'but of type "external_account"'],
    ['is no JSON', 'nonsense', 'is not the key of a service account'],
    ['has another key', { private_key: 'wrong-value' }, 'is no PEM of PKCS #8'],
    [
      'is of another account',
      { client_email: 'other@example.com' },
      'Google does not log the service account other@example.com in',
    ],
    ['sends its proof in the clear', { token_uri: 'http://example.com/token' }, 'does not begin with https://'],
  ])('is not logged in to by a key file that %s', async (_, change, message) => {
    const content = typeof change === 'string' ? change : { ...double.keyFile, ...(change as object) };
    const error: unknown = await open(await writeKeyFile(content))
      .get('my-key')
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) as string });
    expect(String(error)).not.toContain('wrong-value');
  });

  it('is not logged in to by a key file that is not there', async () => {
    await expect(open({ GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'none') }).get('k')).rejects.toThrow(
      'cannot read the key file',
    );
  });
});
