import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keyStoreConformance } from '../../test/support/keysvc/keystore.conformance.ts';
import { openFilesKeyStore } from './files-keystore.ts';

let root: string;
let count = 0;
let folder: string;
const nextFolder = () => (folder = join(root, `keys-${count++}`));

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'files-keystore-'));
});
afterAll(() => rm(root, { recursive: true }));

keyStoreConformance('files', () => openFilesKeyStore(nextFolder()));

describe('the folder of the keys', () => {
  beforeEach(nextFolder);

  it('and its files are readable by their owner alone', async () => {
    const store = await openFilesKeyStore(folder);
    await store.create('my-key', Buffer.from('x'));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'my-key'))).mode & 0o777).toBe(0o600);
  });

  it('is cleared of what a crash left half written long ago, and of nothing else', async () => {
    const store = await openFilesKeyStore(folder);
    await store.create('my-key', Buffer.from('x'));
    const old = '.gone.0123456789abcdef.tmp';
    const young = '.live.0123456789abcdef.tmp';
    for (const name of [old, young]) await writeFile(join(folder, name), 'half');
    await utimes(join(folder, old), 0, 0);
    const again = await openFilesKeyStore(folder);
    expect((await readdir(folder)).sort()).toEqual([young, 'my-key']);
    expect(await Array.fromAsync(again.list())).toEqual(['my-key']);
  });

  it('is never left by a name', async () => {
    const store = await openFilesKeyStore(folder);
    await expect(store.get('../secret')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('that is gone is an outage, not an absence', async () => {
    const store = await openFilesKeyStore(folder);
    await rm(folder, { recursive: true });
    await expect(store.probe()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(Array.fromAsync(store.list())).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.create('k', Buffer.from('x'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('refuses a file that is too large to be a key', async () => {
    const store = await openFilesKeyStore(folder);
    await writeFile(join(folder, 'huge'), Buffer.alloc(64 * 1024 + 1));
    await expect(store.get('huge')).rejects.toMatchObject({ code: 'corrupted' });
  });

  it('says why it cannot be opened', async () => {
    await writeFile(folder, 'a file');
    await expect(openFilesKeyStore(folder)).rejects.toThrow(folder);
  });
});
