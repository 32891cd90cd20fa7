import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import { GcpDouble } from '../../../test/support/keysvc/gcp-double.ts';
import { GcpKeyStore } from './gcp-keystore.ts';

const record = Buffer.from('record');
let double: GcpDouble;
let folder: string;
const tokenFile = () => join(folder, 'token');

beforeEach(async () => {
  double = await GcpDouble.start(new VirtualClock());
  folder = await mkdtemp(join(tmpdir(), 'gcp-federation-'));
  for (const name of ['HOME', 'CLOUDSDK_CONFIG']) vi.stubEnv(name, folder);
  await writeFile(tokenFile(), double.federation.subjectToken);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await double.http.close();
  await rm(folder, { recursive: true });
});

/** Opens a store whose environment has these credentials. */
async function open(source: 'file' | 'url', impersonate = false): Promise<GcpKeyStore> {
  const file = join(folder, 'credentials.json');
  const from = source === 'url' ? source : { file: tokenFile() };
  await writeFile(file, JSON.stringify(double.federation.credentials(double.http.url, from, impersonate)));
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
  const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
  const settings = { kind: 'gcp', endpoint: double.http.url, projectId: 'coffer', scopes } as const;
  return new GcpKeyStore(settings, { clock: double.clock, attemptMs: 60_000 });
}

describe("Google's Secret Manager by an identity of elsewhere (external_account)", () => {
  it.each(['file', 'url'] as const)('takes the token of a %s, exchanged once', async (source) => {
    const store = await open(source);
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
    expect([double.federation.exchanges, double.federation.impersonations]).toEqual([1, 0]);
  });

  it.each(['file', 'url'] as const)('acts as a service account by the token of a %s', async (source) => {
    const store = await open(source, true);
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
    expect([double.federation.exchanges, double.federation.impersonations]).toEqual([1, 1]);
  });

  it('reads the file again for the next token: the platform replaces it', async () => {
    const store = await open('file');
    await store.create('my-key', record);
    double.revokeTokens();
    double.federation.subjectToken = 'the next token of the provider';
    await writeFile(tokenFile(), double.federation.subjectToken);
    expect(await store.get('my-key')).toEqual(record);
    expect(double.federation.exchanges).toBe(2);
  });

  it('says by which code Google refuses the token, and quotes none', async () => {
    await writeFile(tokenFile(), 'stale-provider-token');
    const error: unknown = await (await open('file')).get('my-key').catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('invalid_grant') as string });
    expect(inspect(error, { depth: 10 })).not.toContain('stale-provider-token');
  });

  it('names the file of the token where there is none', async () => {
    await rm(tokenFile());
    await expect((await open('file')).get('my-key')).rejects.toThrow(tokenFile());
  });

  it.each(
    [503, 302, 400, 403, 404, 429].flatMap((status) => [
      ['the provider', '/provider/token', status] as const,
      ["Google's exchange", '/sts/v1/token', status] as const,
      ['the impersonation', 'generateAccessToken', status] as const,
    ]),
  )(
    'is away, and says no to nobody, while %s (%s) answers %i in other words',
    async (_what, path, status) => {
      const store = await open('url', true);
      const answer = { status, body: '<html>no</html>' };
      double.http.faultOf = ({ url }) => (url.pathname.endsWith(path) ? answer : undefined);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    },
    30_000,
  );
});
