import { createServer, type Server, type Socket } from 'node:net';
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { describeOutage, KeyServiceError } from '../../platform/key-service/exchange.ts';
import { listen } from '../../platform/http/listen.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { KeyError, type KeyStore } from '../../keysvc/keystores/keystore.ts';
import { Remote } from '../../keysvc/keystores/remote/remote.ts';
import { withTimeLimit } from '../../keysvc/keystores/remote/time-limit.ts';
import { VaultKeyStore } from '../../keysvc/keystores/vault/vault-keystore.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { startTestKeyService, type TestKeyService } from '../support/keysvc/test-key-service.ts';
import { VirtualClock } from '../support/keysvc/http-double.ts';
import { VaultDouble, vaultLogin } from '../support/keysvc/vault-double.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

let client: CertificateAndKey;
beforeAll(async () => {
  client = await issueCertificate({ commonName: 'app', validForMs: 3_600_000 });
});

async function serving(keyStore: KeyStore): Promise<TestKeyService> {
  const identity = identityOfCertificate(new X509Certificate(client.certPem));
  const policy = `root: disabled\npolicy: { app: { allow: [/v1/key/*/*], identities: [${identity}] } }`;
  const service = await startTestKeyService(() => Promise.resolve(policy), { keyStore, tls: 'auth: off' });
  ended.push(() => service.stop());
  return service;
}

async function open(addresses: readonly string[], ...authorities: readonly TestKeyService[]) {
  const opened = await openKeyServiceClient({
    endpoints: addresses.map((address) => `https://${address}`),
    credentials: {
      kind: 'pem',
      cert: client.certPem,
      key: client.keyPem,
      ca: authorities.map(({ ca }) => ca.certPem).join('\n'),
    },
    log: createLogger({ name: 'test', level: 'silent' }),
  });
  ended.push(() => opened.close());
  return opened;
}

const failureOf = async (client: KeyServiceClient): Promise<KeyServiceError> => {
  const failure: unknown = await client.generateKey('k', Buffer.from('{}')).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(KeyServiceError);
  return failure as KeyServiceError;
};

const vaultStore = (endpoint: string) =>
  new VaultKeyStore({
    kind: 'vault',
    endpoint,
    engine: 'kv',
    version: 'v2',
    prefix: '',
    login: { kind: 'approle', engine: 'approle', ...vaultLogin },
    tls: {},
  });

/** A vault that takes connections and never answers. */
async function silentVault(): Promise<{ readonly endpoint: string; readonly connections: () => number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' });
  ended.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${port}`, connections: () => connections };
}

describe('a caller of the key service that waits less than the key service tries its store', () => {
  it.each([1, 2])(
    'learns that the store fails, with %s endpoints: a sealed vault',
    async (endpoints) => {
      const vault = await VaultDouble.start(new VirtualClock(), 'v2');
      ended.push(() => vault.http.close());
      vault.seal();
      const all = await Promise.all(Array.from({ length: endpoints }, () => serving(vaultStore(vault.http.url))));
      const opened = await open(
        all.map(({ service }) => service.address),
        ...all,
      );
      expect(describeOutage(await failureOf(opened.within(4500)))).toMatch(/the key store behind it/);
    },
    60_000,
  );

  it('learns that the store fails: a vault that never answers', async () => {
    const vault = await silentVault();
    const one = await serving(vaultStore(vault.endpoint));
    const failure = await failureOf((await open([one.service.address], one)).within(4500));
    expect(describeOutage(failure)).toMatch(/the key store behind it/);
  }, 180_000);

  it('learns it where the other endpoint does not answer', async () => {
    const vault = await VaultDouble.start(new VirtualClock(), 'v2');
    ended.push(() => vault.http.close());
    vault.seal();
    const one = await serving(vaultStore(vault.http.url));
    const hanging = await silentVault();
    const both = await open([one.service.address, hanging.endpoint.replace('http://', '')], one);
    for (let turn = 0; turn < 2; turn++) {
      expect(describeOutage(await failureOf(both.within(4500)))).toMatch(/the key store behind it/);
    }
  }, 180_000);
});

describe('a request to a store', () => {
  it('is not made when the time is over', async () => {
    const vault = await silentVault();
    const remote = new Remote();
    const asked = withTimeLimit(50, () => remote.ask({ method: 'GET', url: vault.endpoint, of: 'the vault' }));
    await expect(asked).rejects.toBeInstanceOf(KeyError);
    expect(vault.connections()).toBeLessThan(2);
  });
});
