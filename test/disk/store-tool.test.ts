import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allObjectRecords, placeText } from '../../server/maintenance/verify/object-records.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbReadOnly } from '../../server/store/lmdb/read-only.ts';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { clientOf } from '../crash/s3-client.ts';
import { verified } from '../crash/verify-folder.ts';
import { programArguments, programEnvironment } from '../support/process/program.ts';
import { runCommand } from '../support/process/run-command.ts';
import { report } from '../support/report.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { compileIoFaults, type Fault, IoFaults } from './io-faults.ts';
import { faultsOfRun, isSwept, MetFaults, runName } from './sweep-run.ts';
import { allFaults, describeFault } from './sweep.ts';

const Bucket = 'bucket';
const tool = programArguments(new URL('../../server/store-tool/main.ts', import.meta.url));

let folder: string;
let library: string;
/** The data folder with an object of each size: a record, a place in a segment, and a file of its own. */
let source: string;
/** A snapshot of it. */
let snapshot: string;
let objects: readonly string[];

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-store-tool-')));
  library = compileIoFaults(folder);
  source = join(folder, 'source');
  const server = await startServer({ folder: source, env: { SVC_THREADS: '1' } });
  await untilReady(server);
  const s3 = clientOf(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  for (const [Key, bytes] of Object.entries({ record: 1_000, segment: 300_000, file: 5_000_000 })) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(bytes) }));
  }
  await server.stop();
  snapshot = join(folder, 'snapshot');
  expect(await runTool(['snapshot', source, snapshot])).toMatchObject({ code: 0 });
  objects = await objectsIn(source);
  expect(objects).toHaveLength(3);
}, 360_000);
afterAll(() => rm(folder, { recursive: true }));

function runTool(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runCommand(process.execPath, [...tool, ...args], {
    env: { ...programEnvironment, ...env },
    timeoutMs: 120_000,
  });
}

/** Returns the objects in a data folder or a snapshot. Throws where anything of them is damaged or missing. */
async function objectsIn(path: string): Promise<string[]> {
  const records = openLmdbReadOnly(join(path, 'records'));
  try {
    const { complaints } = await verified(records, openFilesBlobStore(join(path, 'blobs')));
    expect(complaints).toEqual([]);
    const found: string[] = [];
    for await (const object of allObjectRecords(records)) found.push(placeText(object));
    return found;
  } finally {
    await records.close();
  }
}

/** Each call with each error. `rest` stands for all files of the source and of the target. */
const faults = allFaults({ places: ['records', 'blobs', 'rest'], every: 1 }).filter(
  // A file system that cannot map one file cannot map the others, which start.test.ts tries.
  ({ ops: [op] }) => op !== 'mmap',
);

const commands: Readonly<
  Record<string, { readonly from: () => string; readonly args: (to: string) => readonly string[] }>
> = {
  copy: { from: () => source, args: (to) => ['copy', source, to] },
  snapshot: { from: () => source, args: (to) => ['snapshot', source, to] },
  restore: { from: () => snapshot, args: (to) => ['restore', snapshot, to] },
};

describe(`coffer-store while calls fail, ${runName}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(isSwept)('never verifies what it could not read', async () => {
    const wrong: string[] = [];
    const met = new MetFaults();
    const shim = new IoFaults({ folder, dataFolder: source, library });
    for (const fault of faultsOfRun(faults, 10)) {
      if (met.skips(fault)) continue;
      shim.begin(fault);
      const { code, stderr } = await runTool(['verify', source], shim.env);
      shim.end();
      met.ran(fault, shim.hits);
      const [op = 'read'] = fault.ops;
      const mustFail =
        shim.hits > 0 && fault.times === undefined && ['open', 'read'].includes(op) && fault.in !== 'rest';
      const passes = ['slow', 'part', 'EINTR'].includes(fault.error);
      if (code === null || (code === 0 && mustFail && !passes)) {
        wrong.push(`${describeFault(fault)}: ended with ${code}: ${stderr.slice(-300)}`);
      }
    }
    shim.close();
    expect(wrong).toEqual([]);
    report(`coffer-store verify: ${met.summary()}`);
  });

  it.runIf(isSwept).each(Object.keys(commands))('%s ends with a whole target, or with a word', async (name) => {
    const { from, args } = commands[name] ?? { from: () => source, args: () => [] };
    const wrong: string[] = [];
    const met = new MetFaults();
    const runs = faultsOfRun(faults, 20).map((fault, at) => ({ fault, at }));
    // Each run compares what the fault left behind, which waits for the disk.
    await mapLimit(runs, 3, async ({ fault, at }) => {
      const own = join(folder, `${name}-${at}`);
      const target = join(own, 'target');
      const isTarget = at % 2 === 0;
      if (met.skips(fault, `${isTarget}`)) return;
      await mkdir(own);
      // A target that is there is filled in place.
      if (name === 'restore' && isTarget) await mkdir(target);
      const base = fault.in === 'rest' ? folder : isTarget ? target : from();
      const shim = new IoFaults({ folder: own, dataFolder: base, library });
      wrong.push(...(await complaintsOfRun(fault, args(target), target, shim)));
      met.ran(fault, shim.hits, `${isTarget}`);
      shim.close();
      await rm(own, { recursive: true });
    });
    expect(wrong).toEqual([]);
    expect(await objectsIn(from())).toEqual(objects);
    report(`coffer-store ${name}: ${met.summary()}`);
  });
});

/** Runs a command while calls fail. Where it ends with an error, the same command must do its work when no call fails any more. */
async function complaintsOfRun(
  fault: Fault,
  args: readonly string[],
  target: string,
  shim: IoFaults,
): Promise<readonly string[]> {
  shim.begin(fault);
  const { code, stderr } = await runTool(args, shim.env);
  shim.end();
  const told = `${describeFault(fault)}: ended with ${code}: ${stderr.slice(-400)}`;
  if (code === null || (code !== 0 && stderr.trim() === '')) return [told];
  // Nothing failed: the other runs show what the command does then.
  if (code === 0 && shim.hits === 0) return [];
  if (code !== 0) {
    const again = await runTool(args);
    if (again.code !== 0) return [`${told}; again: ${again.code}: ${again.stderr.slice(-400)}`];
  }
  try {
    const found = await objectsIn(target);
    return found.join() === objects.join() ? [] : [`${told}: it has ${found.length} of ${objects.length} objects`];
  } catch (error) {
    return [`${told}: ${(error as Error).message}`];
  }
}
