import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { VaultKeyStore } from '../../keysvc/keystores/vault/vault-keystore.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { VirtualClock, type Fault } from '../support/keysvc/http-double.ts';
import {
  ask,
  issueBy,
  startTestKeyService,
  type Answered,
  type TestKeyService,
} from '../support/keysvc/test-key-service.ts';
import { VaultDouble } from '../support/keysvc/vault-double.ts';
import { vaultSettings } from '../support/keysvc/vault.conformance.ts';

// What callers of the key service are told while the place of its keys is not there, whatever answers in its stead.

const page = '<html><body>404 page not found</body></html>';

/** Answers in the place of the engine of the keys. */
const faults: readonly (readonly [name: string, fault: Fault])[] = [
  ['a proxy answers 404 with a page', { status: 404, headers: { 'content-type': 'text/html' }, body: page }],
  ['a proxy answers 404 with nothing', { status: 404, body: '' }],
  ['a proxy answers 410', { status: 410, body: page }],
  ['a firewall answers 403 with a page', { status: 403, headers: { 'content-type': 'text/html' }, body: page }],
  ['a proxy sends clients elsewhere', { status: 302, headers: { location: '/sign-in' }, body: page }],
  ['a page of maintenance is there', { status: 200, headers: { 'content-type': 'text/html' }, body: page }],
  ['the engine is disabled', { status: 404, body: { errors: ['no handler for route "kv/". route entry not found.'] } }],
  ['the vault is sealed', { status: 503, body: { errors: ['Vault is sealed'] } }],
  ['the connections are cut', 'cut'],
];

interface Setup {
  readonly vault: VaultDouble;
  readonly keys: TestKeyService;
  /** The body of a call that opens a data key. */
  readonly sealed: string;
  readonly call: (method: string, path: string, body?: string) => Promise<Answered>;
}

async function start(version: 'v1' | 'v2', offline: string): Promise<Setup> {
  const clock = new VirtualClock();
  const vault = await VaultDouble.start(clock, version);
  let who: CertificateAndKey | undefined;
  const settings = async (ca: CertificateAndKey) => {
    who = await issueBy(ca, 'root');
    // Nothing is in memory but what the offline cache keeps.
    return `root: ${identityOfCertificate(who.certPem)}\ncache: { expiry: { any: 1ms, unused: 1ms, offline: ${offline} } }`;
  };
  const keyStore = new VaultKeyStore(vaultSettings(vault, version), { clock, attemptMs: 60_000 });
  const keys = await startTestKeyService(settings, { tls: 'auth: off', keyStore });
  const call = (method: string, path: string, body?: string) =>
    ask(keys.service, method, path, { ...(who && { who }), ...(body === undefined ? {} : { body }) });
  await call('POST', '/v1/key/create/k');
  const made = await call('POST', '/v1/key/generate/k', '{}');
  const { ciphertext } = JSON.parse(made.text) as { ciphertext: string };
  return { vault, keys, call, sealed: JSON.stringify({ ciphertext }) };
}

function lose({ vault }: Setup, fault: Fault): void {
  vault.http.faultOf = ({ url }) => (/^\/v1\/(kv|sys)\//.test(url.pathname) ? fault : undefined);
}

describe.each(['v1', 'v2'] as const)('a key service on a vault, version %s,', (version) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await start(version, '0s');
  });
  afterEach(() => (setup.vault.http.faultOf = () => undefined));
  afterAll(async () => {
    await setup.keys.stop();
    await setup.vault.http.close();
  });

  it.each(faults)('calls it an outage for each call that %s', async (_, fault) => {
    const { call, sealed, vault } = setup;
    lose(setup, fault);
    const answers: Record<string, number> = {};
    for (const [name, method, path, body] of [
      ['decrypt', 'POST', '/v1/key/decrypt/k', sealed],
      ['bulk decrypt', 'POST', '/v1/key/bulk/decrypt/k', `[${sealed}]`],
      ['generate', 'POST', '/v1/key/generate/k', '{}'],
      ['describe', 'GET', '/v1/key/describe/k'],
      ['a key that never was', 'GET', '/v1/key/describe/none'],
      ['list', 'GET', '/v1/key/list/*'],
      ['create', 'POST', '/v1/key/create/other'],
      ['rotate', 'POST', '/v1/key/rotate/k'],
      ['delete', 'DELETE', '/v1/key/delete/k'],
      ['ready', 'GET', '/v1/ready'],
    ] as const)
      answers[name] = (await call(method, path, body)).status;
    expect(Object.entries(answers).filter(([, status]) => status !== 502 && status !== 504)).toEqual([]);
    vault.http.faultOf = () => undefined;
    expect((await call('POST', '/v1/key/decrypt/k', sealed)).status).toBe(200);
    expect((await call('GET', '/v1/key/describe/none')).status).toBe(404);
    expect((await call('GET', '/v1/key/list/*')).text).toContain('"k"');
  });
});

describe.each(['v1', 'v2'] as const)('the offline cache of a key service on a vault, version %s,', (version) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await start(version, '1h');
  });
  afterAll(async () => {
    await setup.keys.stop();
    await setup.vault.http.close();
  });

  it.each(faults)('serves while %s', async (_, fault) => {
    lose(setup, fault);
    expect((await setup.call('POST', '/v1/key/decrypt/k', setup.sealed)).status).toBe(200);
    expect((await setup.call('POST', '/v1/key/generate/k', '{}')).status).toBe(200);
  });
});
