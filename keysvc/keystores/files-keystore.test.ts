import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
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
    expect((await readdir(folder)).sort()).toEqual(['.keystore', young, 'my-key']);
    expect(await Array.fromAsync(again.list())).toEqual(['my-key']);
  });

  it('is never left by a name', async () => {
    const store = await openFilesKeyStore(folder);
    await expect(store.get('../secret')).rejects.toMatchObject({ code: 'not-found' });
  });

  const record = Buffer.from('x');
  const lost = [
    ['is gone', async () => rename(folder, `${folder}.away`)],
    [
      'is the empty place of a mount',
      async () => {
        await rename(folder, `${folder}.away`);
        await mkdir(folder);
      },
    ],
  ] as const;

  describe.each(lost)('that %s', (_, lose) => {
    it('while it is in use is an outage of every call, and no key is written there', async () => {
      const store = await openFilesKeyStore(folder);
      await store.create('my-key', record);
      await lose();
      const outage = { code: 'unavailable' };
      await expect(store.get('my-key')).rejects.toMatchObject(outage);
      await expect(store.create('other', record)).rejects.toMatchObject(outage);
      await expect(store.delete('my-key')).rejects.toMatchObject(outage);
      await expect(Array.fromAsync(store.list())).rejects.toMatchObject(outage);
      await expect(store.probe()).rejects.toMatchObject(outage);
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}.away`, folder);
      expect(await store.get('my-key')).toEqual(record);
      expect(await Array.fromAsync(store.list())).toEqual(['my-key']);
    });

    it('at a start is not begun anew, and serves when it is back', async () => {
      const store = await openFilesKeyStore(folder);
      await store.create('my-key', record);
      await lose();
      const before = await readdir(folder).catch(() => 'missing');
      await expect(openFilesKeyStore(folder)).rejects.toThrow(/was in use as the key store .*mount its disk/);
      expect(await readdir(folder).catch(() => 'missing')).toEqual(before);
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}.away`, folder);
      expect(await (await openFilesKeyStore(folder)).get('my-key')).toEqual(record);
    });
  });

  it('that another key store replaces is an outage, and refused at a start', async () => {
    const store = await openFilesKeyStore(folder);
    const other = `${folder}.other`;
    await (await openFilesKeyStore(other)).create('theirs', record);
    await rename(folder, `${folder}.away`);
    await rename(other, folder);
    await expect(store.get('theirs')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.get('none')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(openFilesKeyStore(folder)).rejects.toThrow(/mount the right one/);
  });

  it('of another program of the protocol is taken over as it is', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'theirs'), record);
    const store = await openFilesKeyStore(folder);
    expect(await store.get('theirs')).toEqual(record);
    await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('that was restored without its mark keeps its identity', async () => {
    await (await openFilesKeyStore(folder)).create('my-key', record);
    await rm(join(folder, '.keystore'));
    expect(await (await openFilesKeyStore(folder)).get('my-key')).toEqual(record);
    await (await openFilesKeyStore(folder)).probe();
  });

  it('whose mark is there and cannot be read is an outage, and no folder without a mark', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'theirs'), record);
    await symlink('lost', join(folder, '.keystore'));
    await expect(openFilesKeyStore(folder)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.skipIf(process.getuid?.() === 0)('that cannot be written has no mark, and is known by its place', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'theirs'), record);
    await chmod(folder, 0o500);
    try {
      const store = await openFilesKeyStore(folder);
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
      await rename(folder, `${folder}.away`);
      await mkdir(folder);
      await expect(store.get('none')).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await chmod(folder, 0o700);
    }
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
