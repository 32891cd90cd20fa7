import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { unavailable } from './errors.ts';
import { DiskRoom, FreeSpace } from './free-space.ts';

const script = `
  const { openLmdbRecordStore } = await import(${JSON.stringify(new URL('record-store.ts', import.meta.url).href)});
  const { key } = await import(${JSON.stringify(new URL('../keys.ts', import.meta.url).href)});
  const { commitId } = await import(${JSON.stringify(new URL('../../../test/support/store/patient.ts', import.meta.url).href)});
  // Without a handler the limit ends the process instead of failing the write.
  process.on('SIGXFSZ', () => {});
  const store = openLmdbRecordStore({ folder: process.env.FOLDER });
  const put = (round, name) => store.commit({ id: commitId(), put: [{ key: key(round + name), value: Buffer.alloc(50_000, round) }] });
  for (let round = 0; ; round += 1) {
    const outcomes = await Promise.allSettled([put(round, 'a'), put(round, 'b')]);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (refused.length === 0) continue;
    console.log('refused', refused.length, ...new Set(refused.map(({ reason }) => reason.name)));
    console.log('there', (await store.get(key(round + 'a'))) !== undefined, (await store.get(key('0a'))).value.length);
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log('again', await put(1000, 'a').catch((error) => error.name));
  await store.close();
`;

const room = () => Promise.resolve(true);
const file = '/data/records/data.mdb';
const noRoom = () => Promise.resolve(false);

describe('LMDB without room', () => {
  it('refuses all of what it cannot write, goes on reading, and does not end the process', async () => {
    const folder = await temporaryFolder();
    // 2,048 blocks of 512 bytes, or of 1,024 in some shells.
    const child = spawn(
      'sh',
      ['-c', 'ulimit -f 2048; exec "$0" --input-type=module -e "$1"', process.execPath, script],
      {
        env: { ...process.env, FOLDER: folder.path },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(output).toBe('refused 2 StoreError\nthere false 50000\nagain StoreError\n');
    expect(child.exitCode).toBe(0);
    await folder.remove();
  });

  it('says so: LMDB calls a write that found room for a part an input/output error', async () => {
    const error = Object.assign(new Error('Input/output error'), { code: 5 });
    const full = Object.assign(new Error('No space left on device'), { code: 28 });
    expect(await unavailable(error, { file, wasThereRoom: noRoom, isGivenUp: false })).toMatchObject({ code: 'full' });
    expect(await unavailable(error, { file, wasThereRoom: room, isGivenUp: false })).toMatchObject({
      code: 'unreachable',
    });
    expect(await unavailable(full, { file, wasThereRoom: room, isGivenUp: false })).toMatchObject({ code: 'full' });
  });

  it('does not call the disk full when LMDB has given up the file: no later commit can succeed', async () => {
    for (const code of [5, 28]) {
      const error = Object.assign(new Error('the last page'), { code });
      expect(await unavailable(error, { file, wasThereRoom: noRoom, isGivenUp: true })).toMatchObject({
        code: 'unreachable',
      });
    }
  });

  it.each([
    ['before the transaction', [1024, 2 ** 40]],
    ['right after it failed', [2 ** 40, 1024]],
  ])(
    'takes a write that found no room %s for one on a full disk, although blobs were removed since',
    async (_when, free) => {
      const folder = await temporaryFolder();
      const left = [...free];
      const space = new FreeSpace(folder.path, () => Promise.resolve({ free: left.shift() ?? 0, total: 2 ** 41 }));
      await space.now();
      const disk = new DiskRoom(folder.path, space);
      disk.look();
      const error = Object.assign(new Error('Input/output error'), { code: 5 });
      expect(await unavailable(error, { file, wasThereRoom: () => disk.wasThere(), isGivenUp: false })).toMatchObject({
        code: 'full',
      });
      await folder.remove();
    },
  );

  it('takes an error of a disk that had room all the time for that of a broken disk', async () => {
    const folder = await temporaryFolder();
    const space = new FreeSpace(folder.path, () => Promise.resolve({ free: 2 ** 40, total: 2 ** 41 }));
    const room = new DiskRoom(folder.path, space);
    room.look();
    expect(await room.wasThere()).toBe(true);
    await folder.remove();
  });
});
