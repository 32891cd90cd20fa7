import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import { loadStoreSettings } from '../../platform/settings/load-settings.ts';
import { openDataFolder } from '../store/data-folder.ts';
import { key } from '../store/keys.ts';
import { openLmdbRecordStore } from '../store/lmdb/record-store.ts';
import { storePlaces } from '../../platform/store-address/store-address.ts';
import { prepareRecordFile } from './record-files.ts';

const PAGE = 4_096;
const LEAF = 0x02;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => (base = await temporaryFolder()));
afterEach(() => base.remove());

const places = () => storePlaces(loadStoreSettings({ env: { SVC_CONFIG_ENV_FILE: '/dev/null' } }).stores, base.path);

/** Overwrites the leaf that holds a key. */
async function damageLeafOf(path: string, text: string): Promise<void> {
  const bytes = await readFile(path);
  const holds = (page: number) =>
    page >= 2 &&
    (bytes.readUInt16LE(page * PAGE + 18) & LEAF) !== 0 &&
    bytes.subarray(page * PAGE, (page + 1) * PAGE).includes(text);
  const file = await open(path, 'r+');
  try {
    for (let page = 0; page < bytes.length / PAGE; page += 1) {
      if (holds(page)) await file.write(randomBytes(PAGE), 0, PAGE, page * PAGE);
    }
  } finally {
    await file.close();
  }
}

describe('a start', () => {
  it('looks at the branches of a large record file, and at all of it after servers that ended by themselves', async () => {
    const data = await openDataFolder(base.path);
    const records = openLmdbRecordStore({ folder: data.recordsFolder });
    const put = Array.from({ length: 400 }, (_, n) => ({
      key: key('o', 'bucket', `key-${n}`),
      value: randomBytes(200),
    }));
    await records.commit({ id: randomBytes(16).toString('hex'), put });
    await records.close();
    await data.close();
    await prepareRecordFile(places(), { looksAtAll: true, maxLookedAt: 0 });
    await damageLeafOf(join(data.recordsFolder, 'data.mdb'), 'key-222');
    await prepareRecordFile(places(), { maxLookedAt: 0 });
    const looking = prepareRecordFile(places(), { looksAtAll: true, maxLookedAt: 0 });
    await expect(looking).rejects.toThrow(/is damaged: page \d+, a leaf of records,/);
  });
});
