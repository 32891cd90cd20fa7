import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LARGE } from '../support/maintenance/filled-layer.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { fullForm } from '../support/full-form.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { addVersions, countBlobs, damageBodies, makeDataFolder, versionsIn } from './data-folder.ts';
import { lines, startStoreTool, storeTool, storeToolHere } from './run-store-tool.ts';

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let data: string;

beforeEach(async () => {
  base = await temporaryFolder();
  data = join(base.path, 'data');
});
afterEach(() => base.remove());

describe('coffer-store', () => {
  it('explains itself', async () => {
    const { code, stdout } = await storeTool(['--help']);
    expect(code).toBe(0);
    await expect(stdout).toMatchFileSnapshot('help.golden.txt');
  });

  it.each([
    [['bogus']],
    [['verify', '--bogus']],
    [['copy', 'one']],
    [['read-only', 'maybe']],
    [['snapshot', 'one']],
    [['verify', '--server', 'ftp://host']],
    [['verify', '--server', 'http://127.0.0.1:1']],
    [['verify', '--records', 'postgres://user:secret@host/db', '--blobs', 'files:/tmp']],
    [['copy', 'postgres://user:secret@host/db', '/tmp/x']],
  ])('answers 2 to a command line that cannot be: %j', async (args) => {
    const { code, stderr, stdout } = await storeToolHere(args);
    expect(code, stderr).toBe(2);
    expect(stderr + stdout).not.toContain('secret@');
  });

  it('answers 1 where there is no data folder, and makes none', async () => {
    const { code, stderr } = await storeToolHere(['verify', join(base.path, 'nothing')]);
    expect(code).toBe(1);
    expect(stderr).toContain('is not a data folder of Coffer');
    expect(await readdir(base.path)).toEqual([]);
  });

  it('answers 1 where a server uses the folder, and says what to do', async () => {
    const folder = await openDataFolder(data);
    const { code, stderr } = await storeTool(['verify', data]);
    await folder.close();
    expect(code).toBe(1);
    expect(stderr).toContain('--server URL');
  });
});

const interrupted = (...args: readonly string[]) => storeToolHere(args, {}, { signal: AbortSignal.abort() });

describe('coffer-store that is interrupted', () => {
  it.each(['verify', 'copy', 'snapshot'])('ends a %s, and says so', async (command) => {
    await makeDataFolder(data);
    const target = join(base.path, 'target');
    const { code, stdout, stderr } = await interrupted(command, data, ...(command === 'verify' ? [] : [target]));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('coffer-store: interrupted; run the same again');
    if (command === 'copy') expect(await countBlobs(target)).toBe(0);
    if (command === 'snapshot') expect(await readdir(base.path)).toEqual(['data']);
  });

  it('leaves half a copy, in which a verification does not find that nothing is wrong', async () => {
    await makeDataFolder(data, 3);
    const target = join(base.path, 'target');
    expect((await interrupted('copy', data, target)).code).toBe(1);
    for (const command of [
      ['verify', target],
      ['snapshot', target, join(base.path, 'taken')],
      ['restore', target, join(base.path, 'restored')],
    ]) {
      const { code, stdout } = await storeToolHere(command);
      expect(code, command[0]).toBe(1);
      expect(stdout, command[0]).toMatch(/mismatched-stores: a copy to .* is not finished/);
    }
    expect((await storeToolHere(['copy', data, target])).code).toBe(0);
    expect((await storeToolHere(['verify', target])).code).toBe(0);
  });

  it('leaves half a copy, which the same copy ends and that of another deployment refuses', async () => {
    const [other, target] = [join(base.path, 'other'), join(base.path, 'target')];
    await makeDataFolder(data);
    await makeDataFolder(other);
    await interrupted('copy', data, target);
    expect(await storeToolHere(['copy', other, target])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/holds half a copy of the deployment .*: name an empty place/) as string,
    });
    const { code, stderr } = await storeToolHere(['copy', data, target]);
    expect(code, stderr).toBe(0);
  });

  it('restores nothing', async () => {
    await makeDataFolder(data);
    const [snapshot, restored] = [join(base.path, 'snapshot'), join(base.path, 'restored')];
    await storeToolHere(['snapshot', data, snapshot]);
    expect(await interrupted('restore', snapshot, restored)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('interrupted') as string,
    });
    expect(await readdir(base.path)).toEqual(['data', 'snapshot']);
  });
});

describe('coffer-store verify', () => {
  it('answers 0 where nothing is wrong', async () => {
    await makeDataFolder(data);
    const { code, stdout } = await storeToolHere(['verify', data]);
    expect(stdout).toContain('nothing is wrong');
    expect(code).toBe(0);
  });

  it('answers 1 and tells each finding, as JSON too', async () => {
    await makeDataFolder(data);
    expect(await damageBodies(data, LARGE)).toBeGreaterThan(0);
    const text = await storeToolHere(['verify', data]);
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/^damaged-body: blob [0-9a-f]{32} of bucket\/large does not have its checksum$/m);
    const json = await storeTool(['verify', data, '--json']);
    expect(json.code).toBe(1);
    expect(lines(json)).toContainEqual(
      expect.objectContaining({ type: 'finding', kind: 'damaged-body', key: 'large' }),
    );
    expect(lines(json).at(-1)).toMatchObject({ type: 'summary', losses: expect.any(Number) });
  });

  it('reads no bodies when it is to be quick', async () => {
    await makeDataFolder(data);
    await damageBodies(data, LARGE);
    expect((await storeToolHere(['verify', data, '--quick'])).code).toBe(0);
  });

  it('takes the store from options, settings files and the environment', async () => {
    await makeDataFolder(data);
    const file = join(base.path, 'settings.env');
    await writeFile(file, `SVC_STORE_RECORDS=lmdb:${data}\nSVC_STORE_BLOBS=files:${data}/blobs\n`);
    for (const [args, env] of [
      [['verify', '--records', `lmdb:${data}`, '--blobs', `files:${data}/blobs`], {}],
      [['verify', file], {}],
      [['verify'], { SVC_VOLUMES: data }],
    ] as const) {
      const { code, stdout, stderr } = await storeToolHere(args, env);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('7 objects');
    }
  });
});

describe('coffer-store copy', () => {
  it('makes a copy on which a verification finds nothing', async () => {
    await makeDataFolder(data, 50);
    await addVersions(data);
    const target = join(base.path, 'target');
    const { code, stderr } = await storeToolHere(['copy', data, target]);
    expect(code, stderr).toBe(0);
    expect((await storeToolHere(['verify', target, '--grace', '0'])).code).toBe(0);
    expect(await versionsIn(target)).toEqual(await versionsIn(data));
  });

  it('goes on after it was killed, again and again', { timeout: 360_000 }, async () => {
    await makeDataFolder(data, 400);
    const target = join(base.path, 'target');
    for (const blobs of fullForm ? [5, 30, 60] : [5, 40]) {
      const child = startStoreTool(['copy', data, target, '--concurrency', '2']);
      const ended = new Promise((resolve) => child.on('exit', resolve));
      while ((await countBlobs(target)) < blobs) await new Promise((resolve) => setTimeout(resolve, 2));
      child.kill('SIGKILL');
      await ended;
      expect(child.signalCode).toBe('SIGKILL');
    }
    const { code, stderr } = await storeToolHere(['copy', data, target]);
    expect(code, stderr).toBe(0);
    expect((await storeToolHere(['verify', target, '--grace', '0'])).code).toBe(0);
  });

  it('refuses the source itself and what lies in it, and leaves the source as it is', async () => {
    const source = join(base.path, 'itself');
    await makeDataFolder(source);
    const files = (await readdir(source, { recursive: true })).sort();
    for (const target of [source, join(source, 'blobs', 'copy'), join(source, 'a', 'copy')]) {
      const { code, stderr } = await storeToolHere(['copy', source, target]);
      expect(code, target).toBe(1);
      expect(stderr).toContain(`the target ${target} is the source ${source}, or lies in it`);
    }
    expect((await readdir(source, { recursive: true })).sort()).toEqual(files);
  });

  it('refuses a place that holds other data', async () => {
    await makeDataFolder(data);
    const target = join(base.path, 'target');
    await makeDataFolder(target);
    const { code, stderr } = await storeToolHere(['copy', data, target]);
    expect(code).toBe(1);
    expect(stderr).toContain('holds records already');
    expect((await storeToolHere(['verify', target])).code).toBe(0);
  });

  it('tells what is damaged at the source, and copies the rest', async () => {
    await makeDataFolder(data);
    await damageBodies(data, LARGE);
    const target = join(base.path, 'target');
    const result = await storeToolHere(['copy', data, target, '--json']);
    expect(result.code).toBe(1);
    expect(lines(result)).toContainEqual(expect.objectContaining({ kind: 'damaged-body', key: 'large' }));
  });
});

describe('coffer-store snapshot and restore', () => {
  it('give back what was there', async () => {
    await makeDataFolder(data);
    const [snapshot, restored] = [join(base.path, 'snapshot'), join(base.path, 'restored')];
    expect((await storeToolHere(['snapshot', data, snapshot])).code).toBe(0);
    expect((await storeToolHere(['restore', snapshot, restored])).code).toBe(0);
    expect((await storeToolHere(['verify', restored, '--grace', '0'])).code).toBe(0);
    expect(await readFile(join(restored, 'format.json'), 'utf8')).toBe(
      await readFile(join(data, 'format.json'), 'utf8'),
    );
  });

  it('restores nothing of a damaged snapshot, unless it is told to', async () => {
    await makeDataFolder(data);
    const [snapshot, restored] = [join(base.path, 'snapshot'), join(base.path, 'restored')];
    await storeToolHere(['snapshot', data, snapshot]);
    await damageBodies(snapshot, LARGE);
    expect((await storeToolHere(['restore', snapshot, restored])).code).toBe(1);
    expect(await readdir(base.path)).toEqual(['data', 'snapshot']);
    expect((await storeToolHere(['restore', '--damaged', snapshot, restored])).code).toBe(1);
    expect(await readdir(base.path)).toEqual(['data', 'restored', 'snapshot']);
  });

  it('never writes over anything', async () => {
    await makeDataFolder(data);
    const full = join(base.path, 'full');
    await mkdir(full);
    await writeFile(join(full, 'file'), 'x');
    for (const args of [
      ['snapshot', data, full],
      ['restore', data, full],
    ]) {
      expect((await storeToolHere(args)).code).toBe(1);
    }
    expect(await readdir(full)).toEqual(['file']);
  });
});
