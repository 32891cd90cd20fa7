import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FolderLines, MemoryLines, type WaitingBounds, type WaitingLines } from './waiting-lines.ts';

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-audit-'));
  folders.push(folder);
  return join(folder, 'queue');
}

const never = (lines: number, error: unknown) => {
  throw new Error(`${lines} lines are lost`, { cause: error });
};
const openFolder = (folder: string, bounds: WaitingBounds) => FolderLines.open(folder, { bounds, onDropped: never });

const roomy = { lines: 10_000, bytes: 10_000_000 };

/** Everything that waits, delivered. */
async function drained(queue: WaitingLines): Promise<string[]> {
  await queue.end();
  const all: string[] = [];
  for (let lines = await queue.next(); lines !== undefined; lines = await queue.next()) {
    all.push(...lines);
    await queue.done();
  }
  return all;
}

describe.each([
  ['memory', async (bounds: WaitingBounds) => new MemoryLines(bounds)],
  ['a folder', async (bounds: WaitingBounds) => openFolder(await newFolder(), bounds)],
] as const)('entries that wait in %s', (_where, make) => {
  it('come in order', async () => {
    const queue = await make(roomy);
    const lines = Array.from({ length: 2_500 }, (_, at) => `{"n":${at}}`);
    for (const line of lines) expect(queue.push(line)).toBe(true);
    expect(queue.count).toBe(2_500);
    expect(await drained(queue)).toEqual(lines);
    expect(queue.count).toBe(0);
  });

  it('come as soon as there are some', async () => {
    const queue = await make(roomy);
    const next = queue.next();
    queue.push('first');
    expect(await next).toEqual(['first']);
    await queue.done();
    queue.push('second');
    expect(await queue.next()).toEqual(['second']);
    await queue.done();
    await queue.end();
  });

  it('are no more than may be, those under way too', async () => {
    const queue = await make({ lines: 2, bytes: 1_000 });
    queue.push('a');
    expect(await queue.next()).toEqual(['a']);
    expect([queue.push('b'), queue.push('c')]).toEqual([true, false]);
    await queue.done();
    expect(queue.push('c')).toBe(true);
    await queue.end();
  });

  it('have no more bytes than may be', async () => {
    const queue = await make({ lines: 100, bytes: 20 });
    expect([queue.push('0123456789'), queue.push('0123456789abc')]).toEqual([true, false]);
    await queue.end();
  });

  it('end', async () => {
    const queue = await make(roomy);
    const next = queue.next();
    await queue.end();
    expect(await next).toBeUndefined();
  });
});

describe('a folder of entries', () => {
  it('has what an earlier process left, in order, and goes on after it', async () => {
    const folder = await newFolder();
    const earlier = await openFolder(folder, roomy);
    for (const line of ['a', 'b']) earlier.push(line);
    await earlier.end();
    const later = await openFolder(folder, roomy);
    expect(later.count).toBe(2);
    later.push('c');
    expect(await drained(later)).toEqual(['a', 'b', 'c']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps what was under way when the process ended', async () => {
    const folder = await newFolder();
    const earlier = await openFolder(folder, roomy);
    earlier.push('a');
    expect(await earlier.next()).toEqual(['a']);
    await earlier.end();
    expect(await drained(await openFolder(folder, roomy))).toEqual(['a']);
  });

  it('leaves a line out that was half written', async () => {
    const folder = await newFolder();
    const earlier = await openFolder(folder, roomy);
    earlier.push('a');
    await earlier.end();
    const [name = ''] = await readdir(folder);
    await appendFile(join(folder, name), '{"half');
    const later = await openFolder(folder, roomy);
    expect([later.count, await drained(later)]).toEqual([1, ['a']]);
  });

  it('flushes the folder for each new file, and each write before its lines can be taken', async () => {
    const folder = await newFolder();
    const done: string[] = [];
    const queue = await FolderLines.open(folder, {
      bounds: roomy,
      onDropped: never,
      flush: {
        file: async () => void done.push('file'),
        folder: async (path) => void done.push(path === folder ? 'folder' : path),
      },
    });
    queue.push('a');
    queue.push('b');
    expect(await queue.next()).toEqual(['a', 'b']);
    expect(done).toEqual(['folder', 'file']);
    await queue.done();
    await queue.end();
  });

  it('loses a write that cannot be flushed, and tells it', async () => {
    const dropped: number[] = [];
    const queue = await FolderLines.open(await newFolder(), {
      bounds: roomy,
      onDropped: (lines) => dropped.push(lines),
      flush: { file: () => Promise.reject(new Error('input/output error')), folder: async () => undefined },
    });
    queue.push('a');
    await queue.end();
    expect([dropped, queue.count]).toEqual([[1], 0]);
  });

  it('keeps lines that are set aside, up to its bound, and does not send them again', async () => {
    const folder = await newFolder();
    const queue = await openFolder(folder, { lines: 10, bytes: 20 });
    const path = join(folder, 'refused.ndjson');
    expect(await queue.setAside(['bad', 'worse'])).toBe(path);
    expect(await queue.setAside(['x'.repeat(20)])).toBeUndefined();
    expect(await queue.setAside(['again'])).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('bad\nworse\nagain\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await queue.end();
    const next = await openFolder(folder, roomy);
    expect(next.count).toBe(0);
    await next.end();
  });

  it('is for its owner alone', async () => {
    const folder = await newFolder();
    const queue = await openFolder(folder, roomy);
    queue.push('a');
    await queue.end();
    const [name = ''] = await readdir(folder);
    expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, name))).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('tells what it could not write, and goes on', async () => {
    const folder = await newFolder();
    const dropped: number[] = [];
    const queue = await FolderLines.open(folder, { bounds: roomy, onDropped: (lines) => dropped.push(lines) });
    await rm(folder, { recursive: true });
    queue.push('a');
    await queue.end();
    expect([dropped, queue.count]).toEqual([[1], 0]);
  });
});
