import { randomBytes } from 'node:crypto';
import {
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readState, removeInState, SourceChangedError } from './source-state.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'source-state-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const path = join(mkdtempSync(join(folder, 'case-')), 'f');
  writeFileSync(path, text);
  return path;
}

describe('removeInState', () => {
  it('removes a file that did not change, and leaves nothing beside it', async () => {
    const path = fileOf('as it was');
    removeInState(path, await readState(path));
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it.each([
    ['rewritten', (path: string) => writeFileSync(path, 'other')],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, 'other');
        renameSync(`${path}.new`, path);
      },
    ],
  ])('keeps a file that was %s', async (_, change) => {
    const path = fileOf('as it was');
    const state = await readState(path);
    change(path);
    expect(() => removeInState(path, state)).toThrow(SourceChangedError);
    expect(readdirSync(join(path, '..'))).toEqual(['f']);
    expect(readFileSync(path, 'utf8')).toBe('other');
  });

  it('removes a link, and keeps what it leads to', async () => {
    const path = fileOf('kept');
    symlinkSync(path, `${path}.link`);
    removeInState(`${path}.link`, await readState(`${path}.link`));
    expect(readdirSync(join(path, '..'))).toEqual(['f']);
  });

  it('removes one of two names of a file', async () => {
    const path = fileOf('kept');
    linkSync(path, `${path}.other`);
    removeInState(path, await readState(path));
    expect(readdirSync(join(path, '..'))).toEqual(['f.other']);
  });

  it('removes a file with the longest name', async () => {
    const path = `${fileOf('x')}${randomBytes(127).toString('hex')}`;
    writeFileSync(path, 'x');
    removeInState(path, await readState(path));
    expect(readdirSync(join(path, '..'))).toEqual(['f']);
  });
});
