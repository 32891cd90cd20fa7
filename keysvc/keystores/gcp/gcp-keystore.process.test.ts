import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GcpKeyStoreSettings } from '../keystore-settings.ts';
import { deleteVersions } from '../../keys/key-versions.ts';
import { remoteKeyStoreConformance } from '../../../test/support/keysvc/remote.conformance.ts';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import { GcpDouble, gcpLogin } from '../../../test/support/keysvc/gcp-double.ts';
import { GcpKeyStore } from './gcp-keystore.ts';

function settingsFor(double: GcpDouble): GcpKeyStoreSettings {
  const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
  return { kind: 'gcp', endpoint: double.http.url, projectId: 'coffer', scopes, credentials: gcpLogin };
}

remoteKeyStoreConformance({
  name: 'Google Secret Manager',
  async start() {
    const clock = new VirtualClock();
    const double = await GcpDouble.start(clock);
    return {
      clock,
      http: double.http,
      open: (options) => new GcpKeyStore(settingsFor(double), { clock, ...options }),
      deny: (permission) => double.denied.add(permission),
      allowOnly: (key) => void (double.onlySecret = key),
      close: () => double.http.close(),
    };
  },
  isForKeys: ({ url }) => url.pathname.startsWith('/v1/projects/'),
  isWrite: ({ url }) => url.pathname.endsWith(':addVersion'),
  secrets: [gcpLogin.privateKey.slice(100, 130), 'eyJ'],
  permissions: [
    ['create', 'secrets.create', '"secretmanager.secrets.create"'],
    ['create', 'versions.add', '"secretmanager.versions.add"'],
    ['get', 'versions.access', '"secretmanager.versions.access"'],
    ['delete', 'secrets.delete', '"secretmanager.secrets.delete"'],
    ['list', 'secrets.list', '"secretmanager.secrets.list"'],
  ],
});

function openWithout(double: GcpDouble): GcpKeyStore {
  const { credentials: _, ...settings } = settingsFor(double);
  return new GcpKeyStore(settings, { clock: double.clock, attemptMs: 60_000 });
}

describe("Google's Secret Manager", () => {
  const record = Buffer.from('record');
  let double: GcpDouble;
  const open = (more: Partial<GcpKeyStoreSettings> = {}) =>
    new GcpKeyStore({ ...settingsFor(double), ...more }, { clock: double.clock, attemptMs: 60_000 });

  beforeEach(async () => {
    double = await GcpDouble.start(new VirtualClock());
  });
  afterEach(() => double.http.close());

  it('creates the key whose creator died between its two calls', async () => {
    double.putEmpty('my-key');
    await expect(open().get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    await open().create('my-key', record);
    expect(await open().get('my-key')).toEqual(record);
  });

  it.each([
    ['has no version', (double: GcpDouble) => double.putEmpty('my-key')],
    [
      'has its first version disabled',
      (double: GcpDouble) => {
        double.putEmpty('my-key');
        double.put('my-key', 'record');
        double.disable('my-key', 1);
      },
    ],
  ])('removes a secret that %s, and its name can be used again', async (_, prepare) => {
    prepare(double);
    const store = open();
    await deleteVersions(store, 'my-key');
    await store.create('my-key', record);
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
    double.http.faultOf = () => ({ status: 403, body: { error: { message, status: 'PERMISSION_DENIED' } } });
    await expect(open().get('my-key')).rejects.toThrow('is not switched on');
  });

  it.each<[string, Partial<GcpKeyStoreSettings['credentials']>, string]>([
    ['no PEM', { privateKey: 'wrong-value' }, 'the key of a service account'],
    ['that of another account', { clientEmail: 'other@example.com' }, 'does not take the token'],
    ['one that was replaced', { privateKeyId: 'other' }, 'does not take the token'],
  ])('takes no key that is %s', async (_, change, message) => {
    const error: unknown = await open({ credentials: { ...gcpLogin, ...change } })
      .get('my-key')
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) as string });
    expect(inspect(error, { depth: 10 })).not.toContain('wrong-value');
  });

  describe('without credentials in the settings', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gcp-'));
      for (const name of ['HOME', 'CLOUDSDK_CONFIG']) vi.stubEnv(name, folder);
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    });
    const useKeyFile = async (content: string) => {
      const file = join(folder, 'key.json');
      await writeFile(file, content);
      vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    };

    it('is logged in to by the key file of the environment', async () => {
      await useKeyFile(JSON.stringify(double.keyFile));
      const store = openWithout(double);
      await store.create('my-key', record);
      expect(await store.get('my-key')).toEqual(record);
    });

    it('is logged in to by the identity of the machine, whose token is asked for once until it is taken no more', async () => {
      vi.stubEnv('GCE_METADATA_HOST', new URL(double.http.url).host);
      const store = openWithout(double);
      await store.create('my-key', record);
      expect(await store.get('my-key')).toEqual(record);
      expect(double.logins).toBe(1);
      double.revokeTokens();
      expect(await store.get('my-key')).toEqual(record);
      expect(double.logins).toBe(2);
    });

    it('is away, and says no to nobody, while the service that gives the tokens fails', async () => {
      vi.stubEnv('GCE_METADATA_HOST', new URL(double.http.url).host);
      const store = openWithout(double);
      await store.create('my-key', record);
      double.revokeTokens();
      double.http.faultOf = ({ url }) => (url.pathname.endsWith('/token') ? { status: 503 } : undefined);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    }, 90_000);

    it.each([302, 400, 401, 403, 404, 408, 410, 421, 425, 429])(
      'is away, and says no to nobody, while a proxy before the service that gives the tokens answers %i',
      async (status) => {
        vi.stubEnv('GCE_METADATA_HOST', new URL(double.http.url).host);
        const store = openWithout(double);
        await store.create('my-key', record);
        double.revokeTokens();
        double.http.faultOf = ({ url }) =>
          url.pathname.endsWith('/token') ? { status, body: '<html>no</html>' } : undefined;
        await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
      },
      30_000,
    );

    it('is not logged in to by a key file that is none, of which nothing is quoted', async () => {
      await useKeyFile('{ wrong-value');
      const error: unknown = await openWithout(double)
        .get('my-key')
        .catch((error: unknown) => error);
      expect(error).toMatchObject({
        code: 'refused',
        message: expect.stringContaining('GOOGLE_APPLICATION_CREDENTIALS') as string,
      });
      expect(inspect(error, { depth: 10 })).not.toContain('wrong-value');
    });

    it('is not logged in to by a key file that is not there', async () => {
      vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'none'));
      await expect(openWithout(double).get('my-key')).rejects.toThrow(join(folder, 'none'));
    });
  });
});
