import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { runKeysvc, startKeysvc, type KeysvcProcess } from '../support/server/keysvc-process.ts';
import { StockMc } from './stock-mc.ts';

let folder: string;
let keysvc: KeysvcProcess;
let minio: RunningMinio;
let mc: StockMc;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minio-on-keysvc-'));
  expect(await runKeysvc(['init', folder])).toMatchObject({ code: 0 });
  const address = `127.0.0.1:${await freePort()}`;
  keysvc = await startKeysvc(['--config', file('keysvc.yml'), '--auth=off', '--addr', address]);
  minio = await startMinio('127.0.0.1', {
    MINIO_KMS_KES_ENDPOINT: `https://${address}`,
    MINIO_KMS_KES_KEY_FILE: file('client.key'),
    MINIO_KMS_KES_CERT_FILE: file('client.crt'),
    MINIO_KMS_KES_CAPATH: file('server.crt'),
    MINIO_KMS_KES_KEY_NAME: 'my-key',
  });
  mc = new StockMc(folder);
  await mc.alias('real', minio.url, minio.accessKey, minio.secretKey);
}, 360_000);
afterAll(async () => {
  await minio.stop();
  await keysvc.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a real MinIO on our key service, with the nine paths alone', { timeout: 360_000 }, () => {
  it('makes keys, tries and lists them', async () => {
    await mc.run('admin', 'kms', 'key', 'create', 'real', 'made-by-minio');
    const [status] = await mc.run('admin', 'kms', 'key', 'status', 'real', 'made-by-minio');
    expect(status).toMatchObject({ status: 'success', keyId: 'made-by-minio' });
    expect(JSON.stringify(await mc.run('admin', 'kms', 'key', 'list', 'real'))).toMatch(/made-by-minio.*my-key/);
  });

  it('encrypts and decrypts objects with them', async () => {
    await mc.run('mb', 'real/sealed');
    await mc.run('encrypt', 'set', 'sse-kms', 'my-key', 'real/sealed');
    await writeFile(file('plain'), 'in plain sight of nobody');
    await mc.run('cp', file('plain'), 'real/sealed/object');
    await mc.run('cp', 'real/sealed/object', file('back'));
    expect(await readFile(file('back'), 'utf8')).toBe('in plain sight of nobody');
    const [stat] = await mc.run('stat', 'real/sealed/object');
    expect(JSON.stringify(stat)).toMatch(/aws:kms/);
  });

  it('reads what it wrote before the key was rotated, and writes on', async () => {
    // The server's policy allows no rotation: the record is made as another key server on the same store would make it.
    const { addVersion } = await import('../../keysvc/keys/key-versions.ts');
    const { openFilesKeyStore } = await import('../../keysvc/keystores/files-keystore.ts');
    await addVersion(await openFilesKeyStore(file('keys')), 'my-key', new Date(), undefined);
    await keysvc.stop();
    keysvc = await startKeysvc(['--config', file('keysvc.yml'), '--auth=off', '--addr', keysvc.address]);
    await mc.run('cp', file('plain'), 'real/sealed/after');
    for (const name of ['object', 'after']) {
      await mc.run('cp', `real/sealed/${name}`, file(name));
      expect(await readFile(file(name), 'utf8')).toBe('in plain sight of nobody');
    }
  });
});
