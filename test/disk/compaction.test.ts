import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { report } from '../support/report.ts';
import { compileIoFaults, type Fault, IoFaults } from './io-faults.ts';
import { faultsOfRun, isSwept, MetFaults, runName } from './sweep-run.ts';
import { allFaults, describeFault, mayEndServer } from './sweep.ts';

let folder: string;
let library: string;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-compaction-')));
  library = compileIoFaults(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** A process that compacts (`compactor.ts`). */
class Compactor {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #said = '';

  constructor(dataFolder: string, env: Readonly<Record<string, string>>) {
    const program = fileURLToPath(new URL('compactor.ts', import.meta.url));
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, dataFolder], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => {});
    child.stderr.on('data', (text: Buffer) => {
      this.#said += text.toString();
    });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Returns the answer, or how the process ended. */
  async ask(...command: readonly string[]): Promise<string> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#lines.next();
    if (done !== true && !value.startsWith('failed: ')) return value;
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    return `ended with ${this.#child.signalCode ?? this.#child.exitCode}: ${value ?? ''} ${this.#said.slice(-400)}`;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    if (!this.hasEnded) await once(this.#child, 'exit');
  }
}

/** Each call with each error, of those that a compaction makes. It makes hundreds one after the other, of which one of ten is slow. */
const faults: readonly Fault[] = allFaults({ places: ['records', 'blobs'], every: 1 })
  .filter(({ in: place }) => place !== 'network')
  .map((fault) => (fault.error === 'slow' && fault.times === undefined ? { ...fault, every: 10 } : fault));

describe(`a compaction whose calls fail one kind after the other, ${runName}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(isSwept)('loses no body, and ends only where the guide says so', async () => {
    const dataFolder = join(folder, 'data');
    await mkdir(dataFolder);
    const shim = new IoFaults({ folder, dataFolder, library });
    const met = new MetFaults();
    const wrong: string[] = [];
    let kept: string[] = [];
    let compactor = new Compactor(dataFolder, shim.env);
    let moved = 0;
    for (const fault of faultsOfRun(faults, 4)) {
      if (met.skips(fault)) continue;
      const filled = await compactor.ask('fill');
      kept.push(...(JSON.parse(filled) as string[]));
      shim.begin(fault);
      const compacted = await compactor.ask('compact');
      shim.end();
      met.ran(fault, shim.hits);
      if (compacted.startsWith('ended with')) {
        if (!mayEndServer(fault) || !compacted.startsWith('ended with SIGKILL: failed:')) {
          wrong.push(`${describeFault(fault)}: ${compacted}`);
        }
        wrong.push(...(await verifyFolder(dataFolder)).complaints.map((one) => `${describeFault(fault)}: ${one}`));
        compactor = new Compactor(dataFolder, shim.env);
      } else moved += (JSON.parse(compacted) as { readonly moved: number }).moved;
      const checked = await compactor.ask('check', ...kept);
      if (checked !== 'whole') wrong.push(`${describeFault(fault)}: ${checked}`);
      // What is left of earlier faults is garbage for the next ones.
      await compactor.ask('delete', ...kept.slice(0, -9));
      kept = kept.slice(-9);
    }
    await compactor.end();
    shim.close();
    expect(wrong).toEqual([]);
    expect((await verifySweptFolder(dataFolder)).complaints).toEqual([]);
    report(`compaction: ${met.summary()}; ${moved} bodies moved`);
  });
});
