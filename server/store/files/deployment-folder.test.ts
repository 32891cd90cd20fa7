import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { from, listed, read, someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { folderMarker } from '../blobs-marker.ts';
import type { BlobStore } from '../blob-store.ts';
import { openFilesBlobStore } from './blob-store.ts';

const deploymentId = randomUUID();
const away = { name: 'StoreError', code: 'unreachable', store: 'blobs' };

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: string;
let volume: string;
let store: BlobStore;

beforeEach(async () => {
  base = await temporaryFolder();
  folder = join(base.path, 'mounted');
  volume = join(base.path, 'volume');
  await mkdir(folder);
  await folderMarker(folder).write(deploymentId);
  store = openFilesBlobStore(folder, { deployment: () => deploymentId });
});
afterEach(() => base.remove());

/** The path leads to the empty folder beneath, as after `umount`. */
async function unmount(): Promise<void> {
  await rename(folder, volume);
  await mkdir(folder);
}

async function mount(): Promise<void> {
  await rm(folder, { recursive: true });
  await rename(volume, folder);
}

async function* bodyDuringUnmount() {
  yield Buffer.alloc(1000);
  await unmount();
  yield Buffer.alloc(1000);
}

const large = () => {
  const id = someBlobId();
  return { id, written: store.write(id, from([Buffer.alloc(1000, 'x')])) };
};
const packed = (bytes = Buffer.alloc(1000, 'x')) => store.segments?.write(from([bytes]), { length: bytes.length });

describe('a folder of blobs whose volume goes while the server runs', () => {
  it('takes no body of its own file, and nothing is made beneath', async () => {
    await large().written;
    await unmount();
    await expect(large().written).rejects.toMatchObject(away);
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes no body into a new segment, and nothing is made beneath', async () => {
    await unmount();
    await expect(packed()).rejects.toMatchObject(away);
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes no body into the segment that is open', async () => {
    await packed();
    await unmount();
    await expect(packed()).rejects.toMatchObject(away);
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes no body whose volume goes while it arrives', async () => {
    const id = someBlobId();
    await expect(store.write(id, bodyDuringUnmount())).rejects.toMatchObject(away);
    expect(await readdir(folder)).toEqual([]);
  });

  it('says that it is away, and not that a blob is missing', async () => {
    const { id, written } = large();
    await written;
    const other = await packed();
    await unmount();
    await expect(read(store, id, 0, 1000)).rejects.toMatchObject(away);
    await expect(
      read(openFilesBlobStore(folder, { deployment: () => deploymentId }), other?.id ?? id, 0, 1000),
    ).rejects.toMatchObject(away);
    await expect(store.segments?.has('ff00000000000000' as never)).rejects.toMatchObject(away);
  });

  it('does not count its blobs and segments as gone', async () => {
    const { id, written } = large();
    await written;
    await packed();
    await unmount();
    await expect(listed(store)).rejects.toMatchObject(away);
    await expect(Array.fromAsync(store.segments?.list() ?? [])).rejects.toMatchObject(away);
    await expect(store.remove(id)).rejects.toMatchObject(away);
    await expect(store.check?.()).rejects.toMatchObject(away);
  });

  it('takes the volume up again when it comes back, with all that it has', async () => {
    const before = large();
    await before.written;
    const bytes = randomBytes(1000);
    const inSegment = await packed(bytes);
    await unmount();
    await expect(packed()).rejects.toMatchObject(away);
    await mount();
    await store.check?.();
    expect((await read(store, inSegment?.id ?? before.id, 0, 1000)).equals(bytes)).toBe(true);
    expect((await read(store, before.id, 0, 1000)).length).toBe(1000);
    await large().written;
    const after = await packed(bytes);
    expect((await read(store, after?.id ?? before.id, 0, 1000)).equals(bytes)).toBe(true);
  });

  it('takes the volume up that has another device and inode, and writes to that one', async () => {
    await packed();
    await unmount();
    await cp(volume, folder, { recursive: true });
    // The body went to the segment of the other volume.
    await expect(packed()).rejects.toMatchObject(away);
    const bytes = randomBytes(1000);
    const id = (await packed(bytes))?.id;
    const again = openFilesBlobStore(folder);
    expect((await read(again, id ?? someBlobId(), 0, 1000)).equals(bytes)).toBe(true);
  });

  it('takes up no volume of another deployment', async () => {
    await large().written;
    await unmount();
    const stranger = randomUUID();
    await folderMarker(folder).write(stranger);
    const { written } = large();
    await expect(written).rejects.toMatchObject({ ...away, message: expect.stringContaining(stranger) as string });
    expect(await readdir(folder)).toEqual(['coffer-deployment.json']);
  });

  it('is checked by readiness, which leaves nothing', async () => {
    await store.check?.();
    expect(await readdir(folder)).toEqual(['coffer-deployment.json']);
  });
});

describe('a folder of blobs of a tool', () => {
  it('needs no marker', async () => {
    await rm(join(folder, 'coffer-deployment.json'));
    const tool = openFilesBlobStore(folder);
    await tool.write(someBlobId(), from([Buffer.from('x')]));
    expect(await listed(tool)).toHaveLength(1);
  });
});
