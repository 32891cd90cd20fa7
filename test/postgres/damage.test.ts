import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { key } from '../../server/store/keys.ts';
import { folderMarker } from '../../server/store/blobs-marker.ts';
import { writeCheckpoint } from '../../server/store/checkpoint.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { inFullForm } from '../support/full-form.ts';
import { startServer } from '../support/server/start-server.ts';
import { report } from '../support/report.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { makeDataFolder } from '../store-tool/data-folder.ts';
import { storeToolHere } from '../store-tool/run-store-tool.ts';

let postgres: TestPostgres;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let [settings, bodies] = ['', ''];

beforeAll(async () => {
  [postgres, base] = await Promise.all([startPostgres(), temporaryFolder()]);
  database = await postgres.createDatabase();
  bodies = join(base.path, 'bodies');
  settings = join(base.path, 'store.env');
  await mkdir(bodies);
  const lines = [
    `SVC_STORE_RECORDS=${database.url}`,
    `SVC_STORE_RECORDS_PASSWORD=${database.password}`,
    `SVC_STORE_BLOBS=files:${bodies}`,
  ];
  await writeFile(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  await makeDataFolder(join(base.path, 'data'), 10);
  const copied = await storeToolHere(['copy', join(base.path, 'data'), settings]);
  expect(copied.code, copied.stdout + copied.stderr).toBe(0);
  await checkpoints(3);
  expect((await storeToolHere(['read-only', 'on', settings])).code).toBe(0);
}, 360_000);
afterAll(async () => {
  await postgres.remove();
  await base.remove();
});

/** Without this row, no tool looks at a database. */
const readOnly = `key = decode('${key('system', 'read-only').toString('hex')}', 'hex')`;

/** The record of an object. */
const lost = `key = (select key from coffer_records where value is not null and get_byte(key, 0) = ascii('o') order by key limit 1)`;

const sql = (text: string) => postgres.asSuperuser(text, new URL(database.url).pathname.slice(1));

const bodiesThere = async () =>
  (await readdir(bodies, { recursive: true })).filter((name) => !/(^|\/)\.|\.sealed$/.test(name)).toSorted();

async function checkpoints(count: number): Promise<void> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const records = await openPostgresRecordStore({ ...database, log });
  for (let n = 0; n < count; n += 1) await writeCheckpoint({ records, marker: folderMarker(bodies) }, randomBytes);
  await records.close();
}

async function verified() {
  const { code, stdout, stderr } = await storeToolHere(['verify', settings, '--quick', '--grace', '0']);
  return { code, said: stdout + stderr };
}

describe('the tables of a database', () => {
  it('that are whole are called so', async () => {
    const { code, said } = await verified();
    expect(code, said).toBe(0);
    expect(said).toContain('nothing is wrong');
  });

  it('that lost any row are never called whole', async () => {
    const rows = await sql(
      `select encode(key, 'hex') as key from coffer_records where value is not null and not (${readOnly})`,
    );
    expect(rows.length).toBeGreaterThan(40);
    const step = inFullForm(1, Math.ceil(rows.length / 12));
    for (const { key: row } of rows.filter((_row, at) => at % step === 0)) {
      await sql(`create table gone as select * from coffer_records where key = decode('${String(row)}', 'hex')`);
      await sql(`delete from coffer_records where key = decode('${String(row)}', 'hex')`);
      const { code, said } = await verified();
      const what = `${Buffer.from(String(row), 'hex').toString('latin1')}\n${said}`;
      expect(said, what).not.toContain('nothing is wrong');
      expect(said, what).not.toMatch(/\n\s+at /);
      expect(said, what).toContain('1 are lost');
      expect(code, what).toBe(1);
      await sql(`insert into coffer_records select * from gone on conflict (key) do nothing`);
      await sql('drop table gone');
    }
    expect((await verified()).code).toBe(0);
    report(`${Math.ceil(rows.length / step)} of ${rows.length} rows of a database that are removed are told by verify`);
  }, 600_000);

  it('that lost rows are told by a copy, too, which would count what is left', async () => {
    await sql(`create table gone as select * from coffer_records where ${lost}`);
    await sql(`delete from coffer_records where ${lost}`);
    const { code, stdout, stderr } = await storeToolHere(['copy', settings, join(base.path, 'copied')]);
    expect(stdout).toMatch(/lost-records: .* 1 are lost/);
    expect(stderr).toContain('Records of the source are lost');
    expect(code).toBe(1);
    await sql('insert into coffer_records select * from gone');
    await sql('drop table gone');
    const whole = await storeToolHere(['copy', settings, join(base.path, 'copied-whole')]);
    expect(whole.stderr).toContain('The copy is complete.');
  }, 360_000);

  it('whose counts are gone, or not those of the rows, are told', async () => {
    await sql('create table kept as select * from coffer_counts');
    await sql('create table kept_commits as select * from coffer_commits');
    await sql('truncate coffer_counts, coffer_commits');
    const { code, said } = await verified();
    expect(said).toContain('were deleted before');
    expect(code).toBe(1);
    await sql('insert into coffer_counts select * from kept');
    await sql('insert into coffer_commits select * from kept_commits');
    expect((await verified()).code).toBe(0);
  });

  it('that are of yesterday, or empty, are told', async () => {
    await sql('create table yesterday as select * from coffer_records');
    await checkpoints(3);
    await sql('create table today as select * from coffer_records');
    for (const [table, words] of [
      ['yesterday', 'of an earlier moment'],
      [`yesterday where ${readOnly}`, 'the records are lost'],
    ] as const) {
      await sql('truncate coffer_records');
      await sql(`insert into coffer_records select * from ${table}`);
      const { code, said } = await verified();
      expect(said).toContain(words);
      expect(code).toBe(1);
    }
    await sql('truncate coffer_records');
    await sql('insert into coffer_records select * from today');
    expect((await verified()).code).toBe(0);
  });

  it('that are damaged are told by a start, which removes nothing and makes nothing anew', async () => {
    await sql('create table earlier as select * from coffer_records');
    await checkpoints(3);
    const before = await bodiesThere();
    const url = new URL(database.url);
    const whole = url.pathname.slice(1);
    const name = `${whole}_damaged`;
    url.pathname = `/${name}`;
    const env = {
      SVC_STORE_RECORDS: url.href,
      SVC_STORE_RECORDS_PASSWORD: database.password,
      SVC_STORE_BLOBS: bodies,
    };
    for (const [words, damage] of Object.entries({
      'the records are of an earlier moment than the bodies':
        'truncate coffer_records; insert into coffer_records select * from earlier',
      'records are missing, or of an earlier moment than the counts': `delete from coffer_records where ${lost}`,
      'name the records of that deployment': 'truncate coffer_records',
    })) {
      // What a server writes before it ends is no part of the next case.
      await postgres.asSuperuser(`create database ${name} template ${whole} owner coffer`);
      await postgres.asSuperuser(damage, name);
      const said = await startServer({ folder: join(base.path, 'server'), env }).then(
        async (server) => {
          try {
            return await server.untilLogged(words);
          } finally {
            await server.kill();
          }
        },
        // A server may end before it listens.
        (error: unknown) => String(error),
      );
      await postgres.asSuperuser(`drop database ${name} with (force)`);
      expect(said).toContain(words);
      expect(await bodiesThere(), words).toEqual(before);
    }
  }, 720_000);
});
