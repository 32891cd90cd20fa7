import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { identityOfCertificate, formatApiKey, parseApiKey } from '../../protocol/key-service/identity.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { issue, runKeysvc, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const context = Buffer.from('{"photos":"photos/cat.jpg"}');

let folder: string;
let ca: CertificateAndKey;
let app: CertificateAndKey;
let keysvc: KeysvcProcess;
let client: KeyServiceClient;
const clients: KeyServiceClient[] = [];

const file = (name: string) => join(folder, name);

/** What the specification says the service's policy must allow, and no more. */
const specified = `[/v1/key/create/*, /v1/key/generate/*, /v1/key/decrypt/*, /v1/key/bulk/decrypt, /v1/key/list, /v1/status, /v1/metrics, /v1/log/audit, /v1/log/error]`;

async function writeConfig(name: string, more = ''): Promise<string> {
  const path = file(name);
  await writeFile(
    path,
    `
address: 127.0.0.1:0
root: disabled
tls:
  key: ${file('server.key')}
  cert: ${file('server.crt')}
  ca: ${file('ca.crt')}
policy:
  app:
    allow: ${specified}
    identities: ["\${APP_IDENTITY}"]
log: { audit: on }
keystore: { fs: { path: ${file('keys')} } }
${more}`,
  );
  return path;
}

async function open(
  name: string,
  pair: CertificateAndKey,
  address = keysvc.address,
  caFile = file('ca.crt'),
): Promise<KeyServiceClient> {
  const files = await writePair(folder, name, pair);
  const opened = await openKeyServiceClient({
    endpoints: [`https://${address}`],
    credentials: { kind: 'files', ...files },
    caFile,
    log,
  });
  clients.push(opened);
  return opened;
}

/** The serial number of the certificate that the server shows now. */
const presented = () =>
  new Promise<string>((resolve, reject) => {
    const [host = '', port] = keysvc.address.split(':');
    const socket = connect(
      { host, port: Number(port), rejectUnauthorized: false, cert: app.certPem, key: app.keyPem },
      () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
        socket.destroy();
      },
    );
    socket.on('error', reject);
  });

const environment = () => ({
  KEYSVC_SERVER: `https://${keysvc.address}`,
  KEYSVC_CLIENT_KEY: file('app.key'),
  KEYSVC_CLIENT_CERT: file('app.crt'),
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-service-'));
  ca = await makeCa({ commonName: 'test ca', validForMs: 3_600_000 });
  await writeFile(file('ca.crt'), ca.certPem);
  await writePair(folder, 'server', await issue(ca, 'keysvc'));
  app = await issue(ca, 'app');
  const config = await writeConfig('config.yml', 'keys: [{ name: my-key }]');
  keysvc = await startKeysvc(['--config', config], { APP_IDENTITY: identityOfCertificate(app.certPem) });
  client = await open('app', app);
});

afterAll(async () => {
  for (const opened of clients) opened.close();
  expect(await keysvc.stop()).toBe(0);
  await rm(folder, { recursive: true });
});

describe('a client of the key service', () => {
  it('makes data keys under a key that the configuration lists, and opens them again', async () => {
    const dataKey = await client.generateKey('my-key', context);
    expect(dataKey.plaintext).toHaveLength(32);
    expect(dataKey.version).toMatch(/^[0-9a-f]{32}$/);
    expect(dataKey.ciphertext.includes(dataKey.plaintext)).toBe(false);
    expect(await client.decryptKey('my-key', dataKey.ciphertext, context)).toEqual(dataKey.plaintext);
  });

  it('cannot open a data key in another context or under another key', async () => {
    const { ciphertext } = await client.generateKey('my-key', context);
    const notAuthentic = { code: 'not-authentic', status: 400 };
    await expect(client.decryptKey('my-key', ciphertext, Buffer.from('{}'))).rejects.toMatchObject(notAuthentic);
    await client.createKey('other');
    await expect(client.decryptKey('other', ciphertext, context)).rejects.toMatchObject(notAuthentic);
  });

  it('creates a key once and lists it', async () => {
    await client.createKey('listed-1');
    await expect(client.createKey('listed-1')).rejects.toMatchObject({
      code: 'key-exists',
      message: 'key already exists',
    });
    expect(await client.listKeys('listed-')).toEqual(['listed-1']);
    expect(await client.listKeys()).toEqual(expect.arrayContaining(['listed-1', 'my-key']));
  });

  it('is told of a key that is not there, and of a name that is none', async () => {
    await expect(client.generateKey('none', context)).rejects.toMatchObject({ code: 'key-not-found', status: 404 });
    await expect(client.createKey('a.b')).rejects.toMatchObject({ code: 'invalid-request', status: 400 });
  });

  it('is refused what its policy does not allow', async () => {
    const rejected = { code: 'not-permitted', status: 403 };
    await expect(client.deleteKey('my-key')).rejects.toMatchObject(rejected);
    await expect(client.describeKey('my-key')).rejects.toMatchObject(rejected);
    await expect(client.encryptKey('my-key', Buffer.from('x'), context)).rejects.toMatchObject(rejected);
    await expect(client.ready()).rejects.toMatchObject(rejected);
  });

  it('may ask for status, version and itself', async () => {
    expect(await client.status()).toMatchObject({ os: expect.any(String), keystore_latency: expect.any(Number) });
    expect((await client.version()).version).toMatch(/^\d/);
    expect(await client.describeSelf()).toMatchObject({
      identity: identityOfCertificate(app.certPem),
      policy_name: 'app',
    });
  });

  it('is refused everything where its certificate is in no policy', async () => {
    const stranger = await open('stranger', await issue(ca, 'stranger'));
    await expect(stranger.generateKey('my-key', context)).rejects.toMatchObject({ code: 'not-permitted', status: 403 });
    await expect(stranger.listKeys()).rejects.toMatchObject({ code: 'not-permitted' });
  });

  it('is not let in at all where no trusted authority issued its certificate', async () => {
    const otherCa = await makeCa({ commonName: 'other ca', validForMs: 3_600_000 });
    const foreign = await open('foreign', await issue(otherCa, 'foreign', app.keyPem));
    await expect(foreign.status()).rejects.toMatchObject({
      code: 'not-permitted',
      status: 403,
      message: expect.stringContaining('no trusted authority issued the client certificate') as string,
    });
  });

  it('does not talk to a server that another authority issued', async () => {
    const otherCa = await makeCa({ commonName: 'other ca', validForMs: 3_600_000 });
    await writeFile(file('other-ca.crt'), otherCa.certPem);
    const wary = await openKeyServiceClient({
      endpoints: [`https://${keysvc.address}`],
      credentials: { kind: 'files', certFile: file('app.crt'), keyFile: file('app.key') },
      caFile: file('other-ca.crt'),
      caSetting: 'KEYS_CAPATH',
      log,
    });
    clients.push(wary);
    await expect(wary.status()).rejects.toThrow(
      /cannot be reached: no authority of KEYS_CAPATH=\S*other-ca.crt issued its certificate: name by KEYS_CAPATH the one that did$/,
    );
  });

  it('goes on to the next endpoint where one cannot be reached', async () => {
    const two = await openKeyServiceClient({
      endpoints: ['https://127.0.0.1:1', `https://${keysvc.address}`],
      credentials: { kind: 'files', certFile: file('app.crt'), keyFile: file('app.key') },
      caFile: file('ca.crt'),
      log,
    });
    clients.push(two);
    for (let i = 0; i < 3; i++) expect((await two.version()).version).toMatch(/^\d/);
  });

  it('leaves an audit line for each call, refused ones too, without key material', async () => {
    const { plaintext } = await client.generateKey('my-key', context);
    await client.deleteKey('my-key').catch(() => undefined);
    const identity = identityOfCertificate(app.certPem);
    await expect
      .poll(() => keysvc.lines)
      .toContainEqual(
        expect.objectContaining({
          request: { ip: '127.0.0.1', path: '/v1/key/delete/my-key', identity },
          response: { code: 403, time: expect.any(Number) },
        }),
      );
    expect(keysvc.lines).toContainEqual(
      expect.objectContaining({ request: { ip: '127.0.0.1', path: '/v1/key/generate/my-key', identity } }),
    );
    expect(JSON.stringify(keysvc.lines)).not.toContain(plaintext.toString('base64'));
  });
});

describe('renewal in place', () => {
  it('of the certificates of server and client fails no call', async () => {
    let failures = 0;
    let calls = 0;
    const end = new AbortController();
    const working = Array.from({ length: 4 }, async () => {
      while (!end.signal.aborted) {
        calls++;
        await client.generateKey('my-key', context).catch(() => failures++);
      }
    });
    const server = await issue(ca, 'keysvc');
    await writePair(folder, 'server', server);
    await writePair(folder, 'app', await issue(ca, 'app', app.keyPem));
    const renewed = new X509Certificate(server.certPem).serialNumber;
    await expect.poll(presented, { timeout: 45_000, interval: 100 }).toBe(renewed);
    end.abort();
    await Promise.all(working);
    expect(calls).toBeGreaterThan(0);
    expect(failures).toBe(0);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('cannot be dodged by resuming a session of %s', async (version) => {
    const [host = '', port] = keysvc.address.split(':');
    const credentials = { rejectUnauthorized: false, cert: app.certPem, key: app.keyPem } as const;
    const options = { host, port: Number(port), minVersion: version, maxVersion: version, ...credentials };
    const reused = async (session?: Buffer) => {
      const socket = connect({ ...options, ...(session === undefined ? {} : { session }) });
      let ticket: Buffer | undefined;
      socket.on('session', (offered) => (ticket = offered));
      await once(socket, 'secureConnect');
      const isReused = socket.isSessionReused();
      ticket ??= socket.getSession();
      // An answer comes after the tickets of TLS 1.3, if there are any.
      socket.write('GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      socket.resume();
      await once(socket, 'close');
      return { reused: isReused, session: ticket };
    };
    const { session } = await reused();
    expect((await reused(session)).reused).toBe(false);
  });

  it('of the authority shuts out who was let in under the old one, on kept connections too', async () => {
    // It goes on trusting the server, so that only the server's refusal can end its calls.
    await writeFile(file('client-ca.crt'), ca.certPem);
    const old = await open('old', app, keysvc.address, file('client-ca.crt'));
    await old.status();
    const nextCa = await makeCa({ commonName: 'next ca', validForMs: 3_600_000 });
    await writeFile(file('ca.crt'), nextCa.certPem);
    await expect.poll(() => keysvc.lines.filter((line) => line['ca'] === true), { timeout: 45_000 }).not.toEqual([]);
    await expect(old.status()).rejects.toMatchObject({ status: 403 });
    await writeFile(file('ca.crt'), ca.certPem);
    await expect.poll(() => keysvc.lines.filter((line) => line['ca'] === true).length, { timeout: 45_000 }).toBe(2);
    await expect
      .poll(
        () =>
          client.status().then(
            () => 'in',
            () => 'out',
          ),
        { timeout: 45_000 },
      )
      .toBe('in');
  });
});

describe('the command line', () => {
  it('creates a key by "key create -k NAME", whichever way -k is read', async () => {
    const created = await runKeysvc(['key', 'create', '-k', 'by-command'], environment());
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(await client.listKeys('by-command')).toEqual(['by-command']);
  });

  it('takes the names that other tools of the protocol read from the environment', async () => {
    const { KEYSVC_SERVER, KEYSVC_CLIENT_KEY, KEYSVC_CLIENT_CERT } = environment();
    const listed = await runKeysvc(['key', 'ls', 'by-command'], {
      KES_SERVER: KEYSVC_SERVER,
      KES_CLIENT_KEY: KEYSVC_CLIENT_KEY,
      KES_CLIENT_CERT: KEYSVC_CLIENT_CERT,
      KEYSVC_CAPATH: file('ca.crt'),
    });
    expect(listed).toEqual({ code: 0, stdout: 'by-command\n', stderr: '' });
  });

  it('does not trust an unknown server without -k', async () => {
    const rejected = await runKeysvc(['key', 'create', 'untrusting'], environment());
    expect(rejected.code).toBe(1);
    expect(rejected.stderr).toMatch(/^Error: the key service https:.* cannot be reached/);
  });

  it('exits with 2 where it is used wrongly, and says how', async () => {
    const rejected = await runKeysvc(['key', 'create', '-k'], environment());
    expect(rejected.code).toBe(2);
    expect(rejected.stderr).toMatch(/missing required argument 'name'/);
  });
});

describe('a start that fails', () => {
  it('names the listed key that is damaged, and exits with 1 without listening', async () => {
    await writeFile(file('keys/damaged'), 'no key');
    const config = await writeConfig('damaged.yml', 'keys: [{ name: my-key }, { name: damaged }]');
    const started = await runKeysvc(['server', '--config', config], { APP_IDENTITY: 'c'.repeat(64) });
    expect(started.code).toBe(1);
    expect(started.stderr).toMatch(/the key "damaged" listed under "keys" cannot be validated or created: .*not JSON/);
    expect(started.stdout).not.toContain('listening');
  });

  it('names the certificate that names no host', async () => {
    const nameless = await issueCertificate({ commonName: 'keysvc', issuer: ca, validForMs: 3_600_000 });
    await writePair(folder, 'nameless', nameless);
    const config = await writeConfig('nameless.yml', 'keys: [{ name: my-key }]');
    const files = ['--cert', file('nameless.crt'), '--key', file('nameless.key')];
    const started = await runKeysvc(['server', '--config', config, ...files], { APP_IDENTITY: 'c'.repeat(64) });
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/nameless\.crt names no host/)]);
  });

  it('names the environment variable that is not set', async () => {
    const started = await runKeysvc(['server', '--config', file('config.yml')]);
    expect(started.code).toBe(1);
    expect(started.stderr).toMatch(/APP_IDENTITY, which is not set/);
  });
});

describe('a key server that verifies no client certificates', () => {
  it('still goes by the identity, and needs exactly one certificate', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const apiKey = formatApiKey(privateKey);
    const { identity } = parseApiKey(apiKey);
    const config = await writeConfig('auth-off.yml');
    const lenient = await startKeysvc(['--config', config, '--auth', 'off'], { APP_IDENTITY: identity });
    try {
      const common = { endpoints: [lenient.address], caFile: file('ca.crt'), log };
      const byKey = await openKeyServiceClient({ ...common, credentials: { kind: 'api-key', apiKey } });
      clients.push(byKey);
      expect((await byKey.describeSelf()).identity).toBe(identity);
      await byKey.createKey('by-api-key');
      const stranger = await open('stranger', await issue(ca, 'stranger'), lenient.address);
      await expect(stranger.createKey('x')).rejects.toMatchObject({ status: 403 });
      const withCa = await open('two', { ...app, certPem: app.certPem + ca.certPem }, lenient.address);
      expect((await withCa.describeSelf()).identity).toBe(identityOfCertificate(app.certPem));
      const other = await issue(ca, 'other');
      const twoLeaves = await open('leaves', { ...app, certPem: app.certPem + other.certPem }, lenient.address);
      await expect(twoLeaves.describeSelf()).rejects.toMatchObject({
        status: 400,
        message: 'insecure connection: too many client certificates are present',
      });
    } finally {
      expect(await lenient.stop()).toBe(0);
    }
  });
});
