import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileAtomically, isTemporaryName, removeUnfinished, writeFileAtomically } from './atomic-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atomic-file-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('an atomic file', () => {
  it('is replaced whole and readable by its owner alone', async () => {
    const path = join(folder, 'secret');
    await writeFile(path, 'a longer text than the next', { mode: 0o644 });
    await writeFileAtomically(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('has the mode that was asked for, whatever the umask', async () => {
    const path = join(folder, 'public');
    await writeFileAtomically(path, 'x', { mode: 0o666 });
    expect((await stat(path)).mode & 0o777).toBe(0o666);
  });

  it('is created by exactly one of several at once, and leaves nothing beside it', async () => {
    const path = join(folder, 'once');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => createFileAtomically(path, `writer ${i}`)),
    );
    const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(await readFile(path, 'utf8')).toBe(`writer ${winner}`);
    expect((await readdir(folder)).filter(isTemporaryName)).toEqual([]);
  });

  it('leaves nothing behind where it cannot be written', async () => {
    await expect(writeFileAtomically(join(folder, 'none', 'x'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is removed where a killed process left it half-written, and no other file', async () => {
    const name = 'secret';
    const leftover = `.${name}.0123456789abcdef.tmp`;
    const others = [`.${name}.fedcba9876543210.tmp`, `.${name}.1.0123456789abcdef.tmp`, `.${name}.tmp`];
    for (const file of [leftover, ...others]) await writeFile(join(folder, file), 'a secret');
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const file of [leftover, ...others.slice(1)]) await utimes(join(folder, file), hourAgo, hourAgo);
    await removeUnfinished(join(folder, name));
    const names = await readdir(folder);
    expect(names).not.toContain(leftover);
    expect(names).toEqual(expect.arrayContaining(others));
    await removeUnfinished(join(folder, name), 0);
    expect(await readdir(folder)).not.toContain(others[0]);
  });

  it('knows its own half-written files', () => {
    expect(isTemporaryName('.my-key.0123456789abcdef.tmp')).toBe(true);
    expect(isTemporaryName('my-key')).toBe(false);
  });
});
