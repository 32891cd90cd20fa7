import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inFullForm } from '../../../test/support/full-form.ts';
import { key } from '../keys.ts';
import { openLmdbRecordStore } from './record-store.ts';
import { damageOfRecordFile } from './record-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-record-file-'));
  path = join(folder, 'data.mdb');
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes records of all sizes, and changes and deletes some. */
async function fill(rounds = 30): Promise<void> {
  const records = openLmdbRecordStore({ folder });
  for (let round = 0; round < rounds; round += 1) {
    const put = Array.from({ length: 20 }, (_, n) => ({
      key: key('o', 'bucket', `key-${n}-${round % 10}`),
      value: randomBytes(n % 5 === 0 ? 20_000 : 200),
    }));
    const gone = key('o', 'bucket', `key-3-${(round + 5) % 10}`);
    await records.commit({
      id: randomBytes(16).toString('hex'),
      put: put.filter((one) => !one.key.equals(gone)),
      delete: [gone],
    });
  }
  await records.close();
}

const PAGE = 4_096;

/** Reads all records by LMDB. */
async function everything(): Promise<string> {
  const records = openLmdbRecordStore({ folder });
  const hash = createHash('sha256');
  try {
    for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.alloc(100, 0xff) })) {
      if (item.kind === 'entry') hash.update(item.key).update(item.value);
    }
    return hash.digest('hex');
  } catch (error) {
    return String(error);
  } finally {
    await records.close();
  }
}

describe('a record file', () => {
  it('that is whole has no damage', async () => {
    await fill();
    expect(damageOfRecordFile(path)).toBeUndefined();
    expect(damageOfRecordFile(path, { leaves: false })).toBeUndefined();
  });

  it('whose page is overwritten is damaged, or has the page nowhere', { timeout: 300_000 }, async () => {
    await fill(4);
    const yesterday = await readFile(path);
    await fill(9);
    const whole = await readFile(path);
    const content = await everything();
    const pages = whole.length / PAGE;
    let found = 0;
    for (let page = 0; page < pages; page += inFullForm(1, 5)) {
      const other = (page + 7) % pages;
      const at = (bytes: Buffer, one: number) => bytes.subarray(one * PAGE, (one + 1) * PAGE);
      const ways: readonly (readonly [string, Buffer])[] = [
        ['zeros', Buffer.alloc(PAGE)],
        ['random bytes', randomBytes(PAGE)],
        ['another page', at(whole, other)],
        ['random bytes after its head', Buffer.concat([at(whole, page).subarray(0, 24), randomBytes(PAGE - 24)])],
        ['that of yesterday', at(yesterday, page)],
      ];
      for (const [way, bytes] of ways) {
        const damaged = Buffer.from(whole);
        bytes.copy(damaged, page * PAGE);
        await writeFile(path, damaged);
        if (damageOfRecordFile(path) !== undefined) found += 1;
        // LMDB reads what the check lets through, and the process lives. Large values have no structure: what they hold is looked at above.
        else if (way === 'zeros' || way === 'random bytes')
          expect(await everything(), `page ${page}: ${way}`).toBe(content);
        else expect(await everything(), `page ${page}: ${way}`).toEqual(expect.any(String));
      }
    }
    expect(found).toBeGreaterThan(pages / inFullForm(1, 5));
  });

  it('of which a page of unused ones names a page in use, or counts wrongly, is damaged', async () => {
    await fill();
    const whole = await readFile(path);
    const head = whole.readBigUInt64LE(PAGE + 24 + 128) > whole.readBigUInt64LE(24 + 128) ? PAGE : 0;
    // After the header of the page, and the magic, version, address and size of the head: the description of the tree, which ends with its root.
    const [unused, tables] = [0, 48].map((at) => Number(whole.readBigUInt64LE(head + 24 + 24 + at + 40)));
    if (unused === undefined || tables === undefined) throw new Error('the head has two trees');
    const list = unused * PAGE + 24 + whole.readUInt16LE(unused * PAGE + 24) + 8 + 8;
    const count = Number(whole.readBigUInt64LE(list));
    expect(count).toBeGreaterThan(0);
    const changes: readonly (readonly [string, number, bigint])[] = [
      [`lists page ${tables} as unused, which is in use`, list + 8 * count, BigInt(tables)],
      ['lists page 99999 as unused, which does not exist', list + 8 * count, 99_999n],
      ['has a list with a wrong count', list, 512n],
      ['is of a commit that never was', tables * PAGE + 8, 2n ** 40n],
      ['has keys that do not belong there', list - 8, 2n ** 40n],
    ];
    for (const [what, at, number] of changes) {
      const damaged = Buffer.from(whole);
      damaged.writeBigUInt64LE(number, at);
      await writeFile(path, damaged);
      expect(damageOfRecordFile(path), what).toContain(what);
    }
  });

  it('whose heads are those of other trees is damaged', async () => {
    await fill();
    const whole = await readFile(path);
    whole.writeUInt8(whole.readUInt8(PAGE + 24 + 24 + 4) ^ 0x40, PAGE + 24 + 24 + 4);
    await writeFile(path, whole);
    expect(damageOfRecordFile(path)).toBe('its two heads contradict each other');
  });

  it('that is new has no damage', async () => {
    await fill(0);
    expect(damageOfRecordFile(path)).toBeUndefined();
  });

  it('that is empty or cut is damaged', async () => {
    await fill();
    const whole = await readFile(path);
    for (const length of [0, 100, 4_096, 8_192, Math.floor(whole.length / 2)]) {
      await truncate(path, length);
      expect(damageOfRecordFile(path), String(length)).toEqual(expect.any(String));
      await writeFile(path, whole);
    }
  });
});
