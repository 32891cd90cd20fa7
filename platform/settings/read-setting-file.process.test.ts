import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';
import { readSettingFile } from './read-setting-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setting-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a file of settings', () => {
  it('is read whole', async () => {
    const path = join(folder, 'whole');
    const text = `A=1\n${'#'.repeat(300_000)}\n`;
    await writeFile(path, text);
    expect(readSettingFile(path)).toBe(text);
  });

  it('has at most 1 MiB', async () => {
    const path = join(folder, 'large');
    await writeFile(path, '#'.repeat(1024 * 1024 + 1));
    expect(() => readSettingFile(path)).toThrow('it has more than 1 MiB: is it the right file?');
  });

  it('is refused without an end', () => {
    expect(() => readSettingFile('/dev/zero')).toThrow('it has more than 1 MiB');
  });

  it('may be empty and no regular file', () => {
    expect(readSettingFile('/dev/null')).toBe('');
  });

  it('is refused in another encoding', async () => {
    const path = join(folder, 'latin-1');
    await writeFile(path, 'SVC_REGION=München', 'latin1');
    expect(() => readSettingFile(path)).toThrow('it is not UTF-8');
  });

  it('is named when it is a folder', () => {
    expect(() => loadSettings({ env: { SVC_CONFIG_ENV_FILE: folder } })).toThrow(
      `SVC_CONFIG_ENV_FILE is ${folder}, which cannot be read: it is a folder`,
    );
  });

  it('is named when it is not there', () => {
    const path = join(folder, 'absent');
    expect(() => loadSettings({ env: { SVC_CONFIG_ENV_FILE: path } })).toThrow(
      /absent, which cannot be read: no such file or folder$/,
    );
  });
});
