import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let server: RunningServer;
let folder: string;
let mc: StockMc;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-versions-'));
  server = await startServer();
  await untilReady(server);
  mc = new StockMc(folder);
  await mc.alias('c', server.s3, server.accessKey, server.secretKey);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Each version as `KEY ORDINAL`, newest first, with `!` for a delete marker. */
async function versions(target: string): Promise<string[]> {
  const lines = await mc.run('ls', '-r', '--versions', target);
  return lines.map(
    ({ key, versionOrdinal, isDeleteMarker }) =>
      `${String(key)} ${String(versionOrdinal)}${isDeleteMarker === true ? '!' : ''}`,
  );
}

async function read(...target: readonly string[]): Promise<string> {
  const { code, text } = await mc.try('cat', ...target);
  expect(code, text).toBe(0);
  return text.split('\n').slice(1).join('\n');
}

describe('stock mc', () => {
  it('enables, suspends and excludes versions', async () => {
    await mc.run('mb', 'c/states');
    const states: unknown[] = [];
    const status = async () => states.push((await mc.run('version', 'info', 'c/states'))[0]?.['versioning']);
    await mc.run('version', 'enable', 'c/states');
    await status();
    await mc.run('version', 'suspend', 'c/states');
    await status();
    await mc.run('version', 'enable', '--excluded-prefixes', 'tmp/,x*', '--exclude-folders', 'c/states');
    await status();
    expect(states).toEqual([
      { status: 'Enabled', MFADelete: '' },
      { status: 'Suspended', MFADelete: '' },
      { status: 'Enabled', MFADelete: '', ExcludedPrefixes: ['tmp/', 'x*'], ExcludeFolders: true },
    ]);
    await mc.run('cp', await file('x', 'x'), 'c/states/tmp/x');
    const [excluded] = await mc.run('stat', 'c/states/tmp/x');
    expect(excluded?.['versionID'] ?? 'null').toBe('null');
  });

  it('lists, reads and removes versions, and undoes a deletion', async () => {
    await mc.run('mb', 'c/versions');
    await mc.run('version', 'enable', 'c/versions');
    const large = randomBytes(20 * 2 ** 20);
    for (const content of ['one', 'two', large]) {
      await mc.run('cp', await file('content', content), 'c/versions/folder/key');
    }
    await mc.run('cp', await file('content', 'three'), 'c/versions/folder/key');
    await mc.run('rm', 'c/versions/folder/key');
    expect(await versions('c/versions')).toEqual(['5!', '4', '3', '2', '1'].map((one) => `folder/key ${one}`));
    expect(await mc.run('ls', '-r', 'c/versions')).toEqual([]);
    await mc.run('undo', 'c/versions/folder/key');
    expect(await read('c/versions/folder/key')).toBe('three');
    const stored = await mc.run('ls', '--versions', 'c/versions/folder/key');
    const ids = stored.map(({ versionId }) => String(versionId));
    expect(await read('--version-id', ids[3] ?? '', 'c/versions/folder/key')).toBe('one');
    const back = join(folder, 'back');
    await mc.run('cp', '--version-id', ids[1] ?? '', 'c/versions/folder/key', back);
    expect((await readFile(back)).equals(large)).toBe(true);
    await mc.run('rm', '--version-id', ids[1] ?? '', 'c/versions/folder/key');
    expect(await versions('c/versions')).toHaveLength(3);
    expect(await mc.run('du', '--versions', 'c/versions')).toMatchObject([{ size: 11, objects: 3, isVersions: true }]);
    await mc.run('rm', '-r', '--force', '--versions', 'c/versions');
    expect(await versions('c/versions')).toEqual([]);
  });

  it('goes back to a time before a change', async () => {
    await mc.run('mb', 'c/rewound');
    await mc.run('version', 'enable', 'c/rewound');
    await mc.run('cp', await file('content', 'before'), 'c/rewound/key');
    const [{ lastModified } = {}] = await mc.run('ls', 'c/rewound/key');
    // One millisecond is enough: the times of versions of a key differ.
    const then = new Date(Date.parse(String(lastModified)) + 1).toISOString();
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
    await mc.run('cp', await file('content', 'after'), 'c/rewound/key');
    expect(await read('--rewind', then, 'c/rewound/key')).toBe('before');
    expect(await read('c/rewound/key')).toBe('after');
  });

  it('purges a key, a folder and a bucket with all versions by force', async () => {
    await mc.run('mb', 'c/purged');
    await mc.run('version', 'enable', 'c/purged');
    for (const key of ['a', 'a', 'b/1', 'b/2', 'b/2', 'c']) {
      await mc.run('cp', await file('content', key), `c/purged/${key}`);
    }
    await mc.run('rm', '--force', '--purge', 'c/purged/b');
    expect(await versions('c/purged')).toEqual(['a 2', 'a 1', 'c 1']);
    await mc.run('rm', '--purge', '--force', 'c/purged/a');
    expect(await versions('c/purged')).toEqual(['c 1']);
    await mc.run('rm', 'c/purged/c');
    await mc.run('rb', '--force', 'c/purged');
    expect((await mc.try('ls', 'c/purged')).code).toBe(1);
  });

  it('sets, lists and removes tags of an object and of a version', async () => {
    await mc.run('mb', 'c/tags');
    await mc.run('version', 'enable', 'c/tags');
    await mc.run('cp', '--tags', 'team=red&empty=', await file('content', 'x'), 'c/tags/key');
    const [{ versionId } = {}] = await mc.run('ls', '--versions', 'c/tags/key');
    await mc.run('cp', await file('content', 'y'), 'c/tags/key');
    await mc.run('tag', 'set', 'c/tags/key', 'a-b=c d');
    expect((await mc.run('tag', 'list', 'c/tags/key'))[0]?.['tagset']).toEqual({ 'a-b': 'c d' });
    const first = ['--version-id', String(versionId), 'c/tags/key'];
    expect((await mc.run('tag', 'list', ...first))[0]?.['tagset']).toEqual({ team: 'red', empty: '' });
    await mc.run('tag', 'remove', ...first);
    expect((await mc.run('tag', 'list', ...first))[0]?.['tagset'] ?? {}).toEqual({});
  });

  it('locks versions, for a time and by a hold', async () => {
    await mc.run('mb', '--with-lock', 'c/locked');
    await mc.run('retention', 'set', '--default', 'governance', '1d', 'c/locked');
    expect(await mc.run('retention', 'info', '--default', 'c/locked')).toMatchObject([
      { mode: 'GOVERNANCE', validity: '1DAYS' },
    ]);
    await mc.run('cp', await file('content', 'x'), 'c/locked/key');
    expect(await mc.run('retention', 'info', 'c/locked/key')).toMatchObject([{ mode: 'GOVERNANCE' }]);
    const removal = ['rm', '--versions', '--force', 'c/locked/key'];
    expect((await mc.try(...removal)).text).toContain('object lock');
    await mc.run('legalhold', 'set', 'c/locked/key');
    expect(await mc.run('legalhold', 'info', 'c/locked/key')).toMatchObject([{ legalhold: 'ON' }]);
    expect((await mc.try(...removal, '--bypass')).code).toBe(1);
    await mc.run('legalhold', 'clear', 'c/locked/key');
    expect((await mc.try('rb', '--force', 'c/locked')).code).toBe(1);
    await mc.run(...removal, '--bypass');
    expect(await versions('c/locked')).toEqual([]);
  });

  it('keeps a version in COMPLIANCE whatever is asked', async () => {
    await mc.run('mb', '--with-lock', 'c/compliance');
    const lock = ['--retention-mode', 'compliance', '--retention-duration', '1d'];
    await mc.run('cp', ...lock, await file('content', 'x'), 'c/compliance/key');
    const rejected: readonly (readonly string[])[] = [
      ['rm', '--versions', '--force', '--bypass', 'c/compliance/key'],
      ['rm', '--force', '--purge', 'c/compliance/key'],
      ['rb', '--force', 'c/compliance'],
      ['retention', 'clear', 'c/compliance/key'],
      ['retention', 'set', '--bypass', 'governance', '1d', 'c/compliance/key'],
      ['version', 'suspend', 'c/compliance'],
    ];
    for (const command of rejected) expect((await mc.try(...command)).code, command.join(' ')).toBe(1);
    expect(await versions('c/compliance')).toEqual(['key 1']);
    expect(await read('c/compliance/key')).toBe('x');
  });

  it('mirrors a bucket with versions into another', async () => {
    for (const name of ['source', 'target']) {
      await mc.run('mb', `c/${name}`);
      await mc.run('version', 'enable', `c/${name}`);
    }
    for (const key of ['a', 'b', 'a']) await mc.run('cp', await file('content', `${key}!`), `c/source/${key}`);
    await mc.run('mirror', 'c/source', 'c/target');
    await mc.run('rm', 'c/source/b');
    await mc.run('mirror', '--remove', '--overwrite', 'c/source', 'c/target');
    expect(await versions('c/target')).toEqual(['a 1', 'b 2!', 'b 1']);
  });
});
