import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { createOpenIdProviders, type OpenIdProviders, type OpenIdProvidersOptions } from './openid-providers.ts';

let double: OpenIdProviderDouble;
let providers: OpenIdProviders | undefined;
let lines: string[] = [];

beforeAll(async () => {
  double = await startOpenIdProvider();
});
afterEach(() => {
  double.heal();
  providers?.close();
  lines = [];
});
afterAll(() => double.close());

const settings = (changes: Partial<OpenIdProviderSettings> = {}): OpenIdProviderSettings => ({
  id: 'PRIMARY_IAM',
  enabled: true,
  configUrl: double.configUrl,
  clientId: 'coffer',
  clientSecret: 'coffer-secret',
  scopes: [],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'demo',
  ...changes,
});

const line = (level: string) => (_fields: object, message: string) => {
  lines.push(`${level} ${message}`);
};
const log = { info: line('info'), warn: line('warn'), error: line('error') };

async function start(list: OpenIdProviderSettings[], changes: Partial<OpenIdProvidersOptions> = {}) {
  providers = createOpenIdProviders({ settings: list, region: 'us-east-1', log, retryDelay: () => 1, ...changes });
  await providers.start();
  return providers;
}

describe('createOpenIdProviders', () => {
  it('is ready after the start, and logs one line', async () => {
    const { list } = await start([settings()]);
    expect(list[0]?.status).toMatchObject({ kind: 'ready', metadata: { issuer: double.issuer } });
    expect(lines).toEqual([expect.stringMatching(/^info OpenID provider PRIMARY_IAM is ready/)]);
  });

  it('leaves out those that are switched off', async () => {
    const started = await start([settings({ enabled: false }), settings({ id: 'SECOND' })]);
    expect(started.list.map(({ id }) => id)).toEqual(['SECOND']);
    expect(started.byId('PRIMARY_IAM')).toBeUndefined();
  });

  it('runs without one that is broken, keeps the reason, and finds it once it works', async () => {
    double.fail('discovery', { kind: 'status', status: 503 });
    const { list } = await start([settings()]);
    expect(list[0]?.status).toMatchObject({ kind: 'unavailable', issue: { code: 'UnexpectedStatus' } });
    double.heal();
    await vi.waitFor(() => expect(list[0]?.status.kind).toBe('ready'));
  });

  it('reads the stored ones again when the last read began long ago, however long it took', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const revision = vi.fn(() => {
        vi.advanceTimersByTime(5_000);
        return Promise.resolve(1);
      });
      const stored = { revision, read: () => Promise.resolve([]) };
      const { started } = await start([], { stored, staleMs: 1_000 });
      await started;
      expect(revision).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('logs a reason once, however often it tries', async () => {
    double.fail('discovery', { kind: 'status', status: 503 });
    await start([settings()]);
    const asked = double.requests.length;
    await vi.waitFor(() => expect(double.requests.length).toBeGreaterThan(asked + 3));
    expect(lines).toEqual([expect.stringMatching(/^error OpenID provider PRIMARY_IAM cannot be used.*503/)]);
  });

  it('is not ready while the keys cannot be read', async () => {
    double.fail('jwks', { kind: 'status', status: 500 });
    const { list } = await start([settings()]);
    expect(list[0]?.status).toMatchObject({ kind: 'unavailable', issue: { code: 'KeysUnreachable' } });
  });

  it('stops trying when it is closed', async () => {
    double.fail('discovery', { kind: 'hang' });
    providers = createOpenIdProviders({ settings: [settings()], region: '', log });
    const started = providers.start();
    providers.close();
    await started;
    expect(lines).toEqual([]);
  });

  it('never shows the client secret', async () => {
    double.realm.discovery = { issuer: 'http://other.example' };
    await start([settings()]);
    expect(lines.join('\n')).not.toContain('coffer-secret');
  });

  it('names the role of a provider with a role policy as MinIO does', async () => {
    const { list } = await start([settings({ rolePolicy: ['readonly'] }), settings({ id: 'CLAIMS' })]);
    expect(list.map(({ roleArn }) => roleArn)).toEqual([
      'arn:minio:iam:us-east-1::role/29zYCYh9bvX6I4MrSd7CVECSCoY',
      undefined,
    ]);
  });

  it('labels the button by display name, else by id', async () => {
    const { list } = await start([
      settings({ displayName: 'Our staff' }),
      settings({ id: 'OTHER' }),
      settings({ id: '_' }),
    ]);
    expect(list.map(({ displayName }) => displayName)).toEqual([
      'Our staff',
      'Login with SSO (OTHER)',
      'Login with SSO',
    ]);
  });

  describe('with a CA file', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'coffer-ca-'));
    });
    afterAll(() => rm(folder, { recursive: true }));

    it.each(['missing.pem', 'garbage.pem'])('says that %s is of no use', async (name) => {
      await writeFile(join(folder, 'garbage.pem'), 'no certificate');
      const { list } = await start([settings({ caFile: join(folder, name) })]);
      expect(list[0]?.status).toMatchObject({ kind: 'unavailable', issue: { code: 'CaUnusable' } });
    });
  });
});
