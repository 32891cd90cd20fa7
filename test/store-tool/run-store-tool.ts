import { type ChildProcess, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { programArguments, storeEnvironment } from '../support/process/program.ts';
import { type CommandResult, runCommand } from '../support/process/run-command.ts';
import { join } from 'node:path';
import { mkdir, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { allBlockSums } from '../support/maintenance/filled-layer.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { run } from '../../server/store-tool/program.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { addVersions, makeDataFolder, versionsIn } from './data-folder.ts';

const program = programArguments(new URL('../../server/store-tool/main.ts', import.meta.url));
const ownEnv = { ...storeEnvironment, SVC_CONFIG_ENV_FILE: '/dev/null' };

/** Runs `coffer-store` as a process to its end. */
export function storeTool(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return runCommand(process.execPath, [...program, ...args], { env: { ...ownEnv, ...env } });
}

/** Runs `coffer-store` in this process, where the test needs no process: a start takes longer than most commands. */
export async function storeToolHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { signal }: { readonly signal: AbortSignal } = new AbortController(),
): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: keyof typeof written) =>
    new Writable({
      decodeStrings: false,
      write(text: string, _, done) {
        written[stream] += text;
        done();
      },
    });
  const code = await run(args, { stdout: to('stdout'), stderr: to('stderr'), env: { ...ownEnv, ...env }, signal });
  return { code, ...written };
}

/** Starts it, to be killed. */
export function startStoreTool(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...ownEnv },
    stdio: 'ignore',
  });
}

/** The lines that `--json` printed. */
export function lines(result: CommandResult): readonly Readonly<Record<string, unknown>>[] {
  return result.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/**
 * Copies a data folder to the stores that `settings` say, and from there to another folder: every step is verified, and the last one
 * holds what the first did. `settings` may name `$FOLDER`, an empty folder.
 */
export async function expectRoundTrip(
  settings: readonly string[],
  { shared }: { readonly shared: boolean },
): Promise<void> {
  const base = await temporaryFolder();
  try {
    const [first, last, elsewhere] = ['first', 'last', 'elsewhere.env'].map((name) => join(base.path, name)) as [
      string,
      string,
      string,
    ];
    await makeDataFolder(first, 60);
    await addVersions(first);
    const there = settings.map((line) => line.replaceAll('$FOLDER', join(base.path, 'elsewhere')));
    await mkdir(join(base.path, 'elsewhere'));
    await writeFile(elsewhere, `${there.join('\n')}\n`, { mode: 0o600 });
    await expectClean('copy', first, elsewhere);
    await expectClean('verify', elsewhere, '--grace', '0');
    const again = await storeTool(['copy', first, elsewhere]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/holds (records|blobs) already/);
    if (shared) {
      // Nobody can tell whether servers use a database.
      const rejected = await storeTool(['copy', elsewhere, last]);
      expect(rejected.stderr).toContain('make it read-only');
      await expectClean('read-only', 'on', elsewhere);
    }
    await expectClean('copy', elsewhere, last);
    await expectClean('verify', last, '--grace', '0');
    const summaries = await Promise.all([first, last].map((folder) => storeTool(['verify', folder])));
    const [one, other] = summaries.map(({ stdout }) => /\d+ objects, \d+ uploads/.exec(stdout)?.[0]);
    expect(other).toBe(one);
    expect(await versionsIn(last)).toEqual(await versionsIn(first));
    const sums = await Promise.all([first, last].map(blockSumsIn));
    expect(sums[0]?.size).toBeGreaterThanOrEqual(4);
    expect(sums[1]).toEqual(sums[0]);
  } finally {
    await base.remove();
  }
}

async function blockSumsIn(path: string): Promise<ReadonlyMap<string, string>> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    return await allBlockSums(records);
  } finally {
    await records.close();
    await folder.close();
  }
}

async function expectClean(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await storeTool(args);
  expect(code, `${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
}
