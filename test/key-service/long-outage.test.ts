import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VaultKeyStore } from '../../keysvc/keystores/vault/vault-keystore.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { KeyProof } from '../../server/encryption/key-proof.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import { keyStatus } from '../../server/administration/keys.ts';
import type { KeySource } from '../../server/encryption/key-source.ts';
import { translateFailure } from '../../server/objects/operations/translate-failure.ts';
import { first, VirtualClock, type Fault } from '../support/keysvc/http-double.ts';
import { startTestKeyService, type TestKeyService } from '../support/keysvc/test-key-service.ts';
import { VaultDouble } from '../support/keysvc/vault-double.ts';
import { vaultSettings } from '../support/keysvc/vault.conformance.ts';
import { body, put, testLayer, type TestLayer } from '../support/objects/test-layer.ts';

// An outage of the vault of ten minutes, below a key service and a server in this process. Only the tests move the clocks, and no timer ends, so that a
// slow machine changes nothing.

const minute = 60_000;
/** The minutes of the outage at which clients call: before and after each cache of the key service and of the server has ended. */
const minutes = [0, 0.4, 1, 3, 4.9, 5.1, 8, 10];
/** The lifetime of data keys in the memory of a server, in minutes. */
const inMemory = 5;
const kms = { encryption: { scheme: 'SSE-KMS' } } as const;

/** The time of this process in milliseconds, by the clock on the wall and by the monotonic clock. Certificates are valid at the start. */
const startedAt = { wall: Date.now(), monotonic: performance.now() };
/** The milliseconds by which the test moved the clocks. */
let moved = 0;

let vault: VaultDouble;
let keys: TestKeyService;
let client: KeyServiceClient;
let source: KeySource;
let test: TestLayer;

async function start(offline: string): Promise<void> {
  const clock = new VirtualClock();
  vault = await VaultDouble.start(clock, 'v2');
  const app = await issueCertificate({ commonName: 'app', validForMs: 3_600_000 });
  const identity = identityOfCertificate(new X509Certificate(app.certPem));
  const settings = `root: disabled\npolicy: { app: { allow: ["/v1/*"], identities: [${identity}] } }\ncache: { expiry: { offline: ${offline} } }`;
  const keyStore = new VaultKeyStore(vaultSettings(vault, 'v2'), { clock, attemptMs: 60_000 });
  keys = await startTestKeyService(() => Promise.resolve(settings), { keyStore, tls: 'auth: off' });
  client = await openKeyServiceClient({
    endpoints: [`https://${keys.service.address}`],
    credentials: { kind: 'pem', cert: app.certPem, key: app.keyPem, ca: keys.ca.certPem },
    log: createLogger({ name: 'test', level: 'silent' }),
    // The key service waits for its vault itself.
    retryForMs: 0,
    timeoutMs: 60 * minute,
  });
  await client.createKey('default-key');
  await client.createKey('idle-key');
  const { records } = testLayer();
  source = keyServiceKeys(client, { defaultKey: 'default-key', proof: new KeyProof({ records }) });
  test = testLayer({ records, keys: source, inlineLimit: 100 });
  await test.layer.createBucket('warm', { location: '' });
  await test.layer.putObject(put('warm', 'before', 'x'.repeat(1_000), kms));
}

/** Moves every clock, that of the vault too. */
function advance(ms: number): void {
  moved += ms;
  vault.clock.advance(ms);
}

beforeEach(() => {
  moved = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => startedAt.wall + moved);
  vi.spyOn(performance, 'now').mockImplementation(() => startedAt.monotonic + moved);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  client.close();
  await keys.stop();
  await vault.http.close();
  vi.restoreAllMocks();
});

const page = '<html><body>404 page not found</body></html>';
const outages: readonly (readonly [string, Fault])[] = [
  ['sealed', { status: 503, body: { errors: ['Vault is sealed'] } }],
  ['cut off', 'cut'],
  ['behind a proxy that knows no way to it', { status: 404, headers: { 'content-type': 'text/html' }, body: page }],
  ['without its engine', { status: 404, body: { errors: ['no handler for route "kv/". route entry not found.'] } }],
  ['throttling', { status: 429, headers: { 'retry-after': '3600' }, body: { errors: ['rate limit quota exceeded'] } }],
];

function lose(fault: Fault): void {
  vault.http.faultOf = () => fault;
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      const failure = translateFailure(error) as { code?: string; message?: string };
      return `${failure.code}: ${failure.message}`;
    },
  );

let made = 0;
/** A write under a data key that is not in memory. */
async function coldPut(): Promise<string> {
  const bucket = `cold-${(made += 1)}`;
  await test.layer.createBucket(bucket, { location: '' });
  return outcomeOf(test.layer.putObject(put(bucket, 'key', 'z'.repeat(1_000), kms)));
}

const refused = expect.stringMatching(/^ServiceUnavailable: .*key store behind it/) as string;

describe.each(outages)('a vault that is %s for ten minutes', { timeout: 180_000 }, (_, fault) => {
  it('is an outage to everyone from the first minute to the last, and never a missing key', async () => {
    await start('0s');
    lose(fault);
    for (const [at, now] of minutes.entries()) {
      advance((now - (minutes[at - 1] ?? 0)) * minute);
      // The key is in the memory of the key service for half a minute after its last use.
      expect(await coldPut(), `a cold PUT after ${now} minutes`).toEqual(now < 0.5 ? 'done' : refused);
      const read = await outcomeOf(body(test.layer, 'warm', 'before'));
      expect(read, `a GET after ${now} minutes`).toEqual(now < inMemory ? 'done' : refused);
      const written = await outcomeOf(test.layer.putObject(put('warm', 'during', 'y'.repeat(1_000), kms)));
      expect(written, `a PUT after ${now} minutes`).toEqual(now < inMemory ? 'done' : refused);
      for (const name of ['idle-key', 'never-made'])
        await expect(client.describeKey(name), name).rejects.toMatchObject({ code: 'unavailable', isOfStore: true });
      await expect(client.listKeys()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(client.createKey('default-key')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await outcomeOf(source.proveKey('default-key'))).toMatch(
        /^done$|^ServiceUnavailable: .*key store behind it/,
      );
      expect(await keyStatus(source, 'idle-key')).toMatchObject({
        'encryption-error': expect.stringMatching(/cannot use/) as string,
      });
    }
    vault.http.faultOf = () => undefined;
    await goesOn();
    expect(await body(test.layer, 'warm', 'during')).toHaveLength(1_000);
  });

  it('is not noticed for a key that the offline cache of the key service has', async () => {
    await start('1h');
    lose(fault);
    for (const [at, now] of minutes.entries()) {
      advance((now - (minutes[at - 1] ?? 0)) * minute);
      expect(await coldPut(), `a cold PUT after ${now} minutes`).toBe('done');
      expect(await outcomeOf(body(test.layer, 'warm', 'before')), `a GET after ${now} minutes`).toBe('done');
      await expect(client.describeKey('never-made')).rejects.toMatchObject({ code: 'unavailable' });
    }
    vault.http.faultOf = () => undefined;
    await goesOn();
  });
});

describe('a vault that fails for a moment', () => {
  it.each(outages.slice(0, 2))('is waited for: %s', async (_, fault) => {
    await start('0s');
    advance(10 * minute);
    vault.http.faultOf = first(2, fault);
    expect([await coldPut(), await outcomeOf(body(test.layer, 'warm', 'before'))]).toEqual(['done', 'done']);
  });
});

/** Everything is there, and goes on without a restart of anything. */
async function goesOn(): Promise<void> {
  expect(await coldPut()).toBe('done');
  expect(await body(test.layer, 'warm', 'before')).toHaveLength(1_000);
  expect(await client.listKeys()).toEqual(['default-key', 'idle-key']);
  await expect(client.describeKey('never-made')).rejects.toMatchObject({ code: 'key-not-found' });
  await client.createKey('made-afterwards');
  expect(await keyStatus(source, 'idle-key')).toEqual({ 'key-id': 'idle-key' });
}
