import { X509Certificate } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../platform/key-service/client.ts';
import type { Logger } from '../../platform/output/logger.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

let folder: string;
let oldCa: CertificateAndKey;
let newCa: CertificateAndKey;
let app: CertificateAndKey;
let keysvc: KeysvcProcess;
let client: KeyServiceClient;
const file = (name: string) => join(folder, name);

/** What the client says of its own files. */
const reloads: Record<string, unknown>[] = [];
const log = {
  debug: () => undefined,
  info: (fields: Record<string, unknown>) => reloads.push(fields),
  error: (_: unknown, message: string) => expect.unreachable(message),
} as unknown as Logger;

async function replace(name: string, text: string): Promise<void> {
  await writeFile(file(`.${name}`), text);
  await rename(file(`.${name}`), file(name));
}

/** Both sides have taken a change of this kind into use once more than before. */
async function untilBothReload(kind: 'certificate' | 'ca', change: () => Promise<void>): Promise<void> {
  const of = (lines: readonly Record<string, unknown>[]) => lines.filter((line) => line[kind] === true).length;
  const before = [of(keysvc.lines), of(reloads)];
  await change();
  await expect
    .poll(() => [of(keysvc.lines), of(reloads)], { timeout: 90_000 })
    .toEqual(before.map((count) => count + 1));
}

/** Both sides trust these authorities and no others. */
const trust = async (...authorities: CertificateAndKey[]) => {
  const bundle = authorities.map(({ certPem }) => certPem).join('');
  await replace('server-ca.crt', bundle);
  await replace('client-ca.crt', bundle);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authority-rotation-'));
  oldCa = await makeCa({ commonName: 'old', validForMs: 3_600_000 });
  newCa = await makeCa({ commonName: 'new', validForMs: 3_600_000 });
  for (const name of ['server-ca.crt', 'client-ca.crt']) await replace(name, oldCa.certPem);
  app = await issue(oldCa, 'app');
  const files = await writePair(folder, 'app', app);
  await writePair(folder, 'server', await issue(oldCa, 'keysvc'));
  await writeFile(
    file('config.yml'),
    `
address: 127.0.0.1:0
root: disabled
tls: { key: ${file('server.key')}, cert: ${file('server.crt')}, ca: ${file('client-ca.crt')} }
policy:
  app: { allow: [/v1/key/generate/*], identities: [${identityOfCertificate(app.certPem)}] }
keys: [{ name: k }]
keystore: { fs: { path: ${file('keys')} } }
`,
  );
  keysvc = await startKeysvc(['--config', file('config.yml')]);
  const opened = await openKeyServiceClient({
    endpoints: [`https://${keysvc.address}`],
    credentials: { kind: 'files', ...files },
    caFile: file('server-ca.crt'),
    log,
  });
  // Its calls are not repeated: what fails is seen.
  client = opened.once();
});
afterAll(async () => {
  client.close();
  await keysvc.stop();
  await rm(folder, { recursive: true, force: true });
});

it('authorities of both sides are replaced in phases, and no call fails', { timeout: 360_000 }, async () => {
  const failures: unknown[] = [];
  let calls = 0;
  const end = new AbortController();
  const working = Array.from({ length: 3 }, async () => {
    while (!end.signal.aborted) {
      calls++;
      await client.generateKey('k', Buffer.from('{}')).catch((error: unknown) => failures.push(error));
    }
  });

  await untilBothReload('ca', () => trust(oldCa, newCa));
  const server = await issue(newCa, 'keysvc');
  await untilBothReload('certificate', async () => {
    const key = new X509Certificate(server.certPem);
    expect(key.issuer).toBe('CN=new');
    // The same key, so that its identity stays.
    await replace('app.crt', (await issue(newCa, 'app', app.keyPem)).certPem);
    await replace('server.key', server.keyPem);
    await replace('server.crt', server.certPem);
  });
  await untilBothReload('ca', () => trust(newCa));

  const soFar = calls;
  await expect.poll(() => calls).toBeGreaterThan(soFar + 10);
  end.abort();
  await Promise.all(working);
  expect(failures).toEqual([]);
});
