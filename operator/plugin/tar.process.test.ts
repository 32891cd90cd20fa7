import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { tarGz } from './tar.ts';

const modified = new Date('2026-11-21T12:00:00Z');

it('is unpacked by tar, with every file, also of a long path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-tar-'));
  try {
    const long = `${'f'.repeat(90)}/${'g'.repeat(90)}.txt`;
    const files = new Map([
      ['a/empty', ''],
      ['a/text', 'ä'.repeat(700)],
      [long, 'x'.repeat(512)],
    ]);
    writeFileSync(join(folder, 'x.tar.gz'), tarGz(files, modified));
    execFileSync('tar', ['-xzf', 'x.tar.gz'], { cwd: folder });
    for (const [path, content] of files) expect(readFileSync(join(folder, path), 'utf8')).toBe(content);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('refuses a path that the format cannot hold', () => {
  expect(() => tarGz(new Map([['x'.repeat(101), '']]), modified)).toThrow('too long');
});

it('ends with two empty blocks', () => {
  const raw = gunzipSync(tarGz(new Map([['a', 'b']]), modified));
  expect(raw.length).toBe(4 * 512);
  expect(raw.subarray(1024).every((byte) => byte === 0)).toBe(true);
});
