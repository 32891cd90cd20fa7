import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from './file-lock.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-lock-'));
  path = join(folder, 'count');
});
afterEach(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();

/** No process has this number. */
const deadPid = 99_999_999;

const ownerOf = (pid: number) => JSON.stringify({ pid, host: hostname(), id: 'x' });

async function add(): Promise<void> {
  await withFileLock(path, signal, async (expectHeld) => {
    const count = Number(await readFile(path, 'utf8').catch(() => 0));
    await expectHeld();
    await writeFile(path, String(count + 1));
  });
}

describe('a lock of a file', () => {
  it('lets one change follow the other, and leaves nothing behind', async () => {
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await readFile(path, 'utf8')).toBe('20');
    expect(await readdir(folder)).toEqual(['count']);
  });

  it('takes away what a program left that was killed while it took the lock, and nothing of one that runs', async () => {
    await writeFile(`${path}.lock.0123456789abcdef`, ownerOf(deadPid));
    await writeFile(`${path}.lock.fedcba9876543210`, ownerOf(process.ppid));
    await writeFile(`${path}.lock.mine`, ownerOf(deadPid));
    // Killed before it wrote its name into the file.
    await writeFile(`${path}.lock.${deadPid.toString(16).padStart(8, '0')}89abcdef`, '');
    await add();
    expect((await readdir(folder)).toSorted()).toEqual(['count', 'count.lock.fedcba9876543210', 'count.lock.mine']);
  });

  it('ends with its work also where that fails', async () => {
    await expect(withFileLock(path, signal, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await add();
  });

  it.each([
    ['a process that was killed', JSON.stringify({ pid: deadPid, host: hostname(), id: 'x' }), 0],
    ['another machine that is gone', JSON.stringify({ pid: 1, host: 'elsewhere', id: 'x' }), 120],
    ['a process whose number another one has', JSON.stringify({ pid: process.ppid, host: hostname(), id: 'x' }), 120],
    ['a process that was killed before it wrote its name', '', 120],
  ])('is taken over from %s, by one of several', async (_, text, ageSeconds) => {
    await writeFile(`${path}.lock`, text);
    const then = Date.now() / 1_000 - ageSeconds;
    await utimes(`${path}.lock`, then, then);
    await Promise.all(Array.from({ length: 8 }, add));
    expect(await readFile(path, 'utf8')).toBe('8');
    expect(await readdir(folder)).toEqual(['count']);
  });

  it('is waited for until the command is interrupted', async () => {
    const owner = JSON.stringify({ pid: process.ppid, host: hostname(), id: 'x' });
    await writeFile(`${path}.lock`, owner);
    const interrupted = new AbortController();
    const waiting = withFileLock(path, interrupted.signal, async () => undefined);
    interrupted.abort();
    await expect(waiting).rejects.toThrow('aborted');
    expect(await readFile(`${path}.lock`, 'utf8')).toBe(owner);
  });

  it('tells a program that has lost it, which then writes nothing', async () => {
    await expect(
      withFileLock(path, signal, async (expectHeld) => {
        await writeFile(`${path}.lock`, JSON.stringify({ pid: 1, host: 'elsewhere', id: 'y' }));
        await expectHeld();
        await writeFile(path, 'written');
      }),
    ).rejects.toThrow('another program took over the lock');
    expect(await readdir(folder)).toEqual(['count.lock']);
  });
});
