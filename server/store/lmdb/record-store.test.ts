import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { key } from '../keys.ts';
import { commitId } from '../../../test/support/store/patient.ts';
import { describeRecordStore } from '../../../test/support/store/record-store.conformance.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { openLmdbRecordStore } from './record-store.ts';
import { commitsHavePlaces } from '../../../test/support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

describeRecordStore('lmdb', {
  open: async () => {
    folder = await temporaryFolder();
    return openLmdbRecordStore({ folder: folder.path });
  },
  clean: () => folder.remove(),
});

describe('the LMDB record store', () => {
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('finds again what it committed, and goes on with its revisions', async () => {
    const first = openLmdbRecordStore({ folder: folder.path });
    const put = await first.commit({ id: commitId(), put: [{ key: key('a'), value: Buffer.from('1') }] });
    await first.commit({ id: commitId(), delete: [key('a')] });
    await first.close();
    const second = openLmdbRecordStore({ folder: folder.path });
    const again = await second.commit({ id: commitId(), put: [{ key: key('a'), value: Buffer.from('2') }] });
    expect((await second.get(key('a')))?.value.toString()).toBe('2');
    expect(put.kind === 'committed' && again.kind === 'committed' && again.revision > put.revision + 1).toBe(true);
    await second.close();
  });

  it('answers what was on its way when it is closed', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    const committing = store.commit({ id: commitId(), put: [{ key: key('a'), value: Buffer.from('1') }] });
    await store.close();
    expect((await committing).kind).toBe('committed');
  });

  it('puts no limit of one transaction on what is committed at once', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    const commits = Array.from({ length: 40 }, (_, index) =>
      store.commit({ id: commitId(), put: [{ key: key(String(index)), value: Buffer.alloc(1_000_000, index) }] }),
    );
    expect((await Promise.all(commits)).every((outcome) => outcome.kind === 'committed')).toBe(true);
    expect((await store.get(key('39')))?.value[999_999]).toBe(39);
    await store.close();
  });

  it('is backed up again and again while it is written', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    const finished = new AbortController();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; !finished.signal.aborted; round += 1) {
        const value = Buffer.from(String(round));
        await store.commit({
          id: commitId(),
          put: ['left', 'right'].map((side) => ({ key: key(side, String(writer)), value })),
        });
      }
    });
    for (let round = 0; round < 10; round += 1) {
      const target = join(folder.path, `backup-${round}`);
      await store.backup?.(target);
      const copy = openLmdbRecordStore({ folder: target });
      const [left, right] = await copy.getAll([key('left', '0'), key('right', '0')]);
      expect(left?.value).toEqual(right?.value);
      await copy.close();
    }
    finished.abort();
    await Promise.all(writers);
    await store.close();
  });

  it('is closed after a backup that is on its way', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    for (let round = 0; round < 10; round += 1) {
      await store.commit({
        id: commitId(),
        put: [{ key: key('large', String(round)), value: Buffer.alloc(1_000_000, round) }],
      });
    }
    const ended: string[] = [];
    const target = join(folder.path, 'backup');
    const backup = store.backup?.(target).then(() => ended.push('backup'));
    await store.close().then(() => ended.push('store'));
    await backup;
    expect(ended).toEqual(['backup', 'store']);
    const copy = openLmdbRecordStore({ folder: target });
    expect((await copy.get(key('large', '9')))?.value.length).toBe(1_000_000);
    await copy.close();
  });

  it('keeps its files from other users', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    expect((await stat(join(folder.path, 'data.mdb'))).mode & 0o777).toBe(0o600);
    await store.close();
  });
});
