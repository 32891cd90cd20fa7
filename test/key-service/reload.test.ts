import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const context = Buffer.from('{}');

let folder: string;
let ca: CertificateAndKey;
let keysvc: KeysvcProcess;
let version = 0;
const clients: KeyServiceClient[] = [];
const identities: Record<string, string> = {};
const file = (name: string) => join(folder, name);

/** As the kubelet does: new files in a folder of their own, and one link that is swapped. */
async function mount(config: string): Promise<void> {
  const name = `..${version++}`;
  await mkdir(file(`config/${name}`), { recursive: true });
  await writeFile(file(`config/${name}/config.yml`), config);
  await symlink(name, file('config/..data_tmp'));
  await rename(file('config/..data_tmp'), file('config/..data'));
}

const config = (who: readonly string[], more = 'keys: [{ name: first }]', address = '127.0.0.1:0') => `
address: ${address}
root: disabled
tls: { key: ${file('server.key')}, cert: ${file('server.crt')}, ca: ${file('ca.crt')} }
policy:
  app: { allow: [/v1/key/generate/*, /v1/key/list/*], identities: [${who.map((name) => identities[name]).join(', ')}] }
log: { audit: on }
keystore: { fs: { path: ${file('keys')} } }
${more}
`;

/** Makes an identity of this name; `client` calls with it. */
async function makeIdentity(name: string): Promise<void> {
  const pair = await issue(ca, name);
  identities[name] = identityOfCertificate(pair.certPem);
  await writePair(folder, name, pair);
}

async function client(name: string): Promise<KeyServiceClient> {
  const opened = await openKeyServiceClient({
    endpoints: [`https://${keysvc.address}`],
    credentials: { kind: 'files', certFile: file(`${name}.crt`), keyFile: file(`${name}.key`) },
    caFile: file('ca.crt'),
    log,
  });
  clients.push(opened);
  return opened;
}

const logged = (event: string) => keysvc.lines.filter((line) => line['event'] === event);
const told = (event: string) => logged(event).filter((line) => 'level' in line);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-reload-'));
  ca = await makeCa({ commonName: 'test ca', validForMs: 3_600_000 });
  await writeFile(file('ca.crt'), ca.certPem);
  await writePair(folder, 'server', await issue(ca, 'keysvc'));
  await makeIdentity('first');
  await makeIdentity('second');
  await mount(config(['first']));
  await symlink('..data/config.yml', file('config/config.yml'));
  keysvc = await startKeysvc(['--config', file('config/config.yml')]);
});
afterAll(async () => {
  for (const opened of clients) opened.close();
  await keysvc.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a key service whose configuration changes', { timeout: 180_000 }, () => {
  it('lets a new identity in and makes a new key, without a failed call of others', async () => {
    const first = await client('first');
    const second = await client('second');
    await expect(second.generateKey('first', context)).rejects.toMatchObject({ code: 'not-permitted' });

    let failures = 0;
    const end = new AbortController();
    const working = Array.from({ length: 2 }, async () => {
      while (!end.signal.aborted) await first.generateKey('first', context).catch(() => failures++);
    });
    await mount(config(['first', 'second'], 'keys: [{ name: first }, { name: added }]'));
    await expect
      .poll(
        () =>
          second.generateKey('added', context).then(
            () => 'in',
            () => 'out',
          ),
        { timeout: 60_000 },
      )
      .toBe('in');
    end.abort();
    await Promise.all(working);
    expect(failures).toBe(0);
    expect(logged('config-reloaded')).toContainEqual(
      expect.objectContaining({ time: expect.any(String), changed: ['policy', 'keys'] }),
    );
  });

  it('keeps the old one where the new one is broken, and says so once', async () => {
    const [second] = clients.slice(-1);
    await mount('policy: [');
    await expect.poll(() => told('config-refused').length, { timeout: 60_000 }).toBe(1);
    expect(String(told('config-refused')[0]?.['msg'])).toMatch(/not reloaded, the old one stays: .*YAML/);
    expect(await second?.listKeys('added')).toEqual(['added']);
  });

  it('is told by SIGHUP to look at once, and names what needs a restart', async () => {
    const [second] = clients.slice(-1);
    await mount(config(['second'], 'shutdown: { delay: 1s }', '127.0.0.1:7399'));
    keysvc.signal('SIGHUP');
    await expect
      .poll(() => told('config-reloaded').at(-1), { timeout: 60_000 })
      .toMatchObject({ needRestart: ['address', 'shutdown'], msg: expect.stringMatching(/restart the key service/) });
    expect(await second?.listKeys('added')).toEqual(['added']);
  });
});
