import { randomBytes } from 'node:crypto';
import { cp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStoreSettings } from '../../platform/settings/load-settings.ts';
import { prepareRecordFile } from '../../server/process/record-files.ts';
import { folderMarker } from '../../server/store/blobs-marker.ts';
import { markMisfit, writeCheckpoint } from '../../server/store/checkpoint.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { joinDeployment } from '../../server/store/deployment.ts';
import { isEmptyStore } from '../../server/store/blob-store.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbReadOnly } from '../../server/store/lmdb/read-only.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { storePlaces } from '../../platform/store-address/store-address.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { put, testLayer } from '../support/objects/test-layer.ts';
import { programArguments, storeEnvironment } from '../support/process/program.ts';
import { runCommand } from '../support/process/run-command.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { addVersions, makeDataFolder } from './data-folder.ts';
import { storeToolHere } from './run-store-tool.ts';

const PAGE = 4_096;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
/** The store of today, its copy of yesterday, and a store of another deployment. */
let [today, yesterday, other] = ['', '', ''];

beforeAll(async () => {
  base = await temporaryFolder();
  [today, yesterday, other] = ['today', 'yesterday', 'other'].map((name) => join(base.path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [today, other]) {
    await makeDataFolder(folder, 10);
    await addVersions(folder);
    await serve(folder, 'first');
  }
  await cp(today, yesterday, { recursive: true });
  await serve(today, 'second');
  // What a clean stop leaves behind is no part of the store.
  for (const folder of [today, yesterday, other]) await rm(join(folder, 'records', 'lock.mdb'), { force: true });
}, 360_000);
afterAll(() => base.remove());

/** Joins the stores as a server does, changes something, and writes checkpoints. */
async function serve(folder: string, name: string): Promise<void> {
  await started(folder, async ({ records, blobs, marker }) => {
    const { layer } = testLayer({ records: records as never, blobs: blobs as never });
    for (let n = 0; n < 12; n += 1)
      await layer.putObject(put('bucket', `${name}-${n}`, randomBytes(n % 4 === 0 ? 200_000 : 700)));
    for (let n = 0; n < 4; n += 1) await layer.deleteObject('bucket', `many/${n}`);
    for (let n = 0; n < 3; n += 1) await writeCheckpoint({ records, marker }, randomBytes);
  });
}

/** Does what a start does before it serves. Throws what the start says. */
async function started<T>(
  folder: string,
  work: (stores: {
    readonly records: ReturnType<typeof openLmdbRecordStore>;
    readonly blobs: ReturnType<typeof openFilesBlobStore>;
    readonly marker: ReturnType<typeof folderMarker>;
    readonly unpromoted: Awaited<ReturnType<typeof markMisfit>>;
  }) => Promise<T>,
): Promise<T> {
  const data = await openDataFolder(folder);
  try {
    await start(folder);
    const records = openLmdbRecordStore({ folder: data.recordsFolder });
    try {
      const blobs = openFilesBlobStore(data.blobsFolder);
      const marker = folderMarker(data.blobsFolder);
      const hasBodies = async () => !(await isEmptyStore(blobs));
      const places = { records: data.recordsFolder, blobs: data.blobsFolder };
      await joinDeployment({ records, marker, places, sameFolder: true, newId: data.deploymentId, hasBodies });
      const unpromoted = await markMisfit({ records, marker }, Date.now, randomBytes);
      return await work({ records, blobs, marker, unpromoted });
    } finally {
      await records.close();
    }
  } finally {
    await data.close();
  }
}

/** Looks at the records as a start does. */
function start(folder: string): Promise<void> {
  return prepareRecordFile(
    storePlaces(loadStoreSettings({ env: { SVC_CONFIG_ENV_FILE: '/dev/null' } }).stores, folder),
  );
}

/** All records, as LMDB reads them. */
async function contentOf(folder: string): Promise<string> {
  const records = openLmdbReadOnly(join(folder, 'records'));
  try {
    const lines: string[] = [];
    for await (const { kind, ...item } of records.scan({ start: Buffer.of(0), end: Buffer.alloc(1_901, 0xff) })) {
      if (kind === 'entry' && 'value' in item)
        lines.push(`${item.key.toString('hex')} ${item.revision} ${item.value.toString('hex')}`);
    }
    return lines.join('\n');
  } finally {
    await records.close();
  }
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

const said = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => stdout + stderr;

describe('a page of the records', () => {
  it('that is overwritten is a loss that every tool tells, or in no use', { timeout: 1_800_000 }, async () => {
    const path = join(today, 'records', 'data.mdb');
    const [whole, before, stranger] = await Promise.all(
      [today, yesterday, other].map((folder) => readFile(join(folder, 'records', 'data.mdb'))),
    );
    if (whole === undefined || before === undefined || stranger === undefined) throw new Error('there are three files');
    const content = await contentOf(today);
    const files = await filesOf(today);
    const pages = whole.length / PAGE;
    const at = (bytes: Buffer, page: number) => bytes.subarray(page * PAGE, (page + 1) * PAGE);
    let [told, unused] = [0, 0];
    for (let page = 0; page < pages; page += inFullForm(1, 9)) {
      const ways = {
        zeros: Buffer.alloc(PAGE),
        random: randomBytes(PAGE),
        swapped: at(whole, (page + 11) % pages),
        'of yesterday': at(before, page),
        'of another store': at(stranger, page),
      };
      for (const [way, bytes] of Object.entries(ways)) {
        if (bytes.length < PAGE || bytes.equals(at(whole, page))) continue;
        const file = await open(path, 'r+');
        await file.write(bytes, 0, PAGE, page * PAGE);
        await file.close();
        try {
          const result = await storeToolHere(['verify', today, '--quick']);
          const what = `page ${page}, ${way}\n${said(result)}`;
          if (result.code === 0) {
            unused += 1;
            expect(await contentOf(today), what).toBe(content);
            // What is in no use may still say which pages the next commits overwrite.
            const copy = join(base.path, 'goes-on');
            await cp(today, copy, { recursive: true });
            await serve(copy, 'third');
            const after = await storeToolHere(['verify', copy, '--quick']);
            expect(after.code, `${what}\n${said(after)}`).toBe(0);
            await rm(copy, { recursive: true });
          } else {
            told += 1;
            expect(said(result), what).not.toContain('nothing is wrong');
            expect(said(result), what).not.toMatch(/\n\s+at /);
            // A head of yesterday leaves the records of one commit before, whole: the checkpoint beside the bodies shows that. A start does not
            // read the values, which the other store has under the same keys and revisions.
            if (!said(result).includes('mismatched-stores') && way !== 'of another store') {
              await expect(start(today), what).rejects.toMatchObject({ code: 'record-file' });
            }
          }
          if (result.code !== 0 && told % 7 === 1) {
            const target = join(base.path, 'target');
            expect((await storeToolHere(['restore', today, target])).code, what).toBe(1);
            expect((await storeToolHere(['copy', today, target])).code, what).toBe(1);
            await rm(target, { recursive: true, force: true });
          }
        } finally {
          const again = await open(path, 'r+');
          await again.write(at(whole, page), 0, PAGE, page * PAGE);
          await again.close();
        }
      }
    }
    report(`${told + unused} kinds of damage in ${pages} pages: ${told} are told by verify, ${unused} are in no use`);
    expect(told).toBeGreaterThan(unused);
    expect(await filesOf(today)).toEqual(files);
    expect((await storeToolHere(['verify', today])).code).toBe(0);
  });
});

/** Files without which nothing is lost. */
const harmless = /(^|\/)lock$|\.sealed$/;

describe('a file of the store', () => {
  it('that is removed, cut, or of another store is told', { timeout: 1_800_000 }, async () => {
    const queued = await queuedBlobs();
    let told = 0;
    for (const name of await filesOf(today)) {
      if (harmless.test(name)) continue;
      const path = join(today, name);
      const bytes = await readFile(path);
      const ways: Readonly<Record<string, () => Promise<void>>> = {
        removed: () => rm(path),
        empty: () => truncate(path, 0),
        cut: () => truncate(path, Math.floor(bytes.length / 2)),
      };
      for (const [way, damage] of Object.entries(ways)) {
        await damage();
        try {
          const result = await storeToolHere(['verify', today]);
          const what = `${name} ${way}\n${said(result)}`;
          // A body that waits for its removal may be gone already.
          if (queued.some((blob) => name.endsWith(blob))) continue;
          expect(result.code, what).toBe(1);
          expect(said(result), what).not.toContain('nothing is wrong');
          told += 1;
        } finally {
          await writeFile(path, bytes, { mode: 0o600 });
        }
      }
    }
    expect((await storeToolHere(['verify', today])).code).toBe(0);
    report(`${told} files that are removed, empty or cut are told by verify`);
  });

  it.each([
    [join('records', 'data.mdb'), 'yesterday'],
    [join('records', 'data.mdb'), 'other'],
    [join('blobs', 'coffer-deployment.json'), 'other'],
    [join('blobs', 'coffer-checkpoint.json'), 'yesterday'],
    [join('blobs', 'coffer-checkpoint.json'), 'other'],
    [join('records', 'data.mdb'), 'nowhere'],
  ])('%s that is of %s is told by every tool and at a start, and removes nothing', async (name, from) => {
    const damaged = join(base.path, `damaged-${from}`);
    await cp(today, damaged, { recursive: true });
    try {
      if (from === 'nowhere') await rm(join(damaged, name));
      else await cp(join(from === 'other' ? other : yesterday, name), join(damaged, name));
      const files = await filesOf(damaged);
      for (const command of [
        ['verify', damaged],
        ['restore', damaged, `${damaged}-target`],
        ['copy', damaged, `${damaged}-target`],
        ['snapshot', damaged, `${damaged}-target`],
      ]) {
        const result = await storeToolHere(command);
        expect(result.code, `${command.join(' ')}\n${said(result)}`).toBe(1);
        expect(said(result)).not.toContain('nothing is wrong');
        await rm(`${damaged}-target`, { recursive: true, force: true });
      }
      expect(await filesOf(damaged)).toEqual(files);
      const outcome = await started(damaged, ({ unpromoted }) => Promise.resolve(unpromoted)).catch(
        (error: unknown) => error,
      );
      expect(outcome, name).toBeDefined();
      await cp(join(today, name), join(damaged, name));
      expect((await storeToolHere(['verify', damaged])).code).toBe(0);
    } finally {
      await rm(damaged, { recursive: true, force: true });
    }
  });
});

async function queuedBlobs(): Promise<readonly string[]> {
  const records = openLmdbReadOnly(join(today, 'records'));
  try {
    const found: string[] = [];
    for await (const item of records.scan({ start: Buffer.from('x\0'), end: Buffer.from('x\xff', 'latin1') })) {
      if (item.kind === 'entry') found.push(item.key.toString('latin1', 3, item.key.length - 2));
    }
    return found;
  } finally {
    await records.close();
  }
}

describe('a server', () => {
  it('ends with a sentence on a record file that is damaged or gone, and makes nothing anew', async () => {
    const damaged = join(base.path, 'served');
    await cp(today, damaged, { recursive: true });
    const path = join(damaged, 'records', 'data.mdb');
    const whole = await readFile(path);
    for (const [way, damage] of [
      [
        'overwritten',
        () => writeFile(path, Buffer.concat([whole.subarray(0, 8 * PAGE), randomBytes(whole.length - 8 * PAGE)])),
      ],
      ['empty', () => truncate(path, 0)],
      ['gone', () => rm(path)],
    ] as const) {
      await damage();
      const { code, said: words } = await runServer(damaged);
      expect(code, `${way}\n${words}`).toBe(1);
      expect(words).toMatch(/coffer-server: .*record file .*(damaged|missing)/);
      expect(words).not.toMatch(/\n\s+at /);
    }
    expect(await filesOf(damaged)).not.toContain(join('records', 'data.mdb'));
    await rm(damaged, { recursive: true });
  });
});

/** Runs a server to its end. */
async function runServer(folder: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const program = programArguments(new URL('../../server/main.ts', import.meta.url));
  const ports = ['--address', '127.0.0.1:0', '--console-address', '127.0.0.1:0'];
  const root = { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password', SVC_CONFIG_ENV_FILE: '/dev/null' };
  const { code, stdout, stderr } = await runCommand(process.execPath, [...program, folder, ...ports], {
    env: { ...storeEnvironment, ...root },
  });
  return { code, said: stdout + stderr };
}

describe('a store that is only looked at', () => {
  it('stays as it is, byte by byte, and may be on a read-only medium', async () => {
    const files = await filesOf(yesterday);
    const shown = async () =>
      Promise.all((await filesOf(yesterday)).map(async (name) => [name, (await stat(join(yesterday, name))).mtimeMs]));
    const before = await shown();
    for (const args of [
      ['verify', yesterday],
      ['snapshot', yesterday, join(base.path, 'taken')],
      ['restore', yesterday, join(base.path, 'made')],
      ['copy', yesterday, join(base.path, 'copied')],
    ]) {
      const result = await storeToolHere(args);
      expect(result.code, `${args.join(' ')}\n${said(result)}`).toBe(0);
    }
    expect(await filesOf(yesterday)).toEqual(files);
    expect(await shown()).toEqual(before);
  });
});
