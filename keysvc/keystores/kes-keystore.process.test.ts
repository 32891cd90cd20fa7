import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import type { KesKeyStoreSettings } from './keystore-settings.ts';
import { remoteKeyStoreConformance } from '../../test/support/keysvc/remote.conformance.ts';
import { VirtualClock } from '../../test/support/keysvc/http-double.ts';
import { KesDouble } from '../../test/support/keysvc/kes-double.ts';
import { KesKeyStore, openKesKeyStore } from './kes-keystore.ts';

let folder: string;
let tls: { cert: string; key: string };
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kes-'));
  // One self-signed certificate for both ends.
  const { certPem, keyPem } = await issueCertificate({
    commonName: 'kes',
    ipAddresses: ['127.0.0.1'],
    validForMs: 3_600_000,
  });
  tls = { cert: certPem, key: keyPem };
  await writeFile(file('tls.crt'), certPem);
  await writeFile(file('tls.key'), keyPem);
});
afterAll(() => rm(folder, { recursive: true }));

function settingsFor(...endpoints: readonly string[]): KesKeyStoreSettings {
  return { kind: 'kes', endpoints, certFile: file('tls.crt'), keyFile: file('tls.key'), caFile: file('tls.crt') };
}

remoteKeyStoreConformance({
  name: 'another key service',
  async start() {
    const clock = new VirtualClock();
    const double = await KesDouble.start(clock, tls);
    return {
      clock,
      http: double.http,
      open: (options) => new KesKeyStore(settingsFor(double.http.url), { clock, ...options }),
      deny: (call) => double.denied.add(call),
      close: () => double.http.close(),
    };
  },
  isForKeys: ({ url }) => url.pathname.startsWith('/v1/secret/'),
  isWrite: ({ url }) => url.pathname.startsWith('/v1/secret/create/'),
  secrets: [],
  permissions: [
    ['create', 'create', 'allows its identity "/v1/secret/create/new"'],
    ['get', 'read', 'allows its identity "/v1/secret/read/kept"'],
    ['delete', 'delete', 'allows its identity "/v1/secret/delete/kept"'],
    ['list', 'list', 'allows its identity "/v1/secret/list/*"'],
  ],
});

describe('another key service', () => {
  const record = Buffer.from('record');
  let double: KesDouble;
  let clock: VirtualClock;
  const open = (settings: KesKeyStoreSettings = settingsFor(double.http.url)) =>
    new KesKeyStore(settings, { clock, attemptMs: 60_000 });

  beforeEach(async () => {
    clock = new VirtualClock();
    double = await KesDouble.start(clock, tls);
  });
  afterEach(() => double.http.close());

  it('is asked in its enclave', async () => {
    double.enclave = 'team';
    const store = open({ ...settingsFor(double.http.url), enclave: 'team' });
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
    await expect(open().get('my-key')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('enclave') as string,
    });
  });

  it('may be several, of which one that is away is passed over', async () => {
    const away = await KesDouble.start(clock, tls);
    await away.http.close();
    const store = open(settingsFor(away.http.url, double.http.url));
    for (const name of ['a', 'b', 'c']) await store.create(name, record);
    expect(await store.get('b')).toEqual(record);
    await store.probe();
  });

  it('that keeps its keys in a vault itself has no secrets for others, and that is said', async () => {
    double.isStateless = true;
    await expect(open().get('my-key')).rejects.toThrow('only a key service that keeps state itself');
  });

  it('is not opened without the certificates that the settings name', async () => {
    const settings = { ...settingsFor(double.http.url), certFile: file('none.crt') };
    await expect(openKesKeyStore(settings)).rejects.toThrow(/keystore\.kes\.tls: .*none\.crt/);
    await expect(openKesKeyStore(settingsFor(double.http.url))).resolves.toBeInstanceOf(KesKeyStore);
  });
});
