import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { clientOf } from '../crash/s3-client.ts';
import { report } from '../support/report.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { compileIoFaults, errors, type Fault, IoFaults } from './io-faults.ts';
import { faultsOfRun, isSwept, MetFaults, runName } from './sweep-run.ts';
import { allFaults, describeFault } from './sweep.ts';

const Bucket = 'bucket';
const body = randomBytes(300_000);
const env = { SVC_THREADS: '1' };

let folder: string;
let library: string;
let filled: string;
let cases = 0;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-start-')));
  library = compileIoFaults(folder);
  filled = join(folder, 'filled');
  const server = await startServer({ folder: filled, env });
  await untilReady(server);
  await clientOf(server).send(new CreateBucketCommand({ Bucket }));
  await clientOf(server).send(new PutObjectCommand({ Bucket, Key: 'key', Body: body }));
  await server.stop();
}, 180_000);
afterAll(() => rm(folder, { recursive: true }));

async function prepared(kind: 'new' | 'filled') {
  cases += 1;
  const own = join(folder, String(cases));
  const dataFolder = join(own, 'data');
  await mkdir(dataFolder, { recursive: true });
  if (kind === 'filled') await cp(filled, dataFolder, { recursive: true });
  return { own, dataFolder, shim: new IoFaults({ folder: own, dataFolder, library }) };
}

/** Starts a server whose calls fail. Returns `ready`, why it is not, or with what it ended. Afterwards a start must find everything. */
async function startWith(kind: 'new' | 'filled', fault: Fault, readyMs = 10_000, met?: MetFaults): Promise<string> {
  const { own, dataFolder, shim } = await prepared(kind);
  shim.begin(fault);
  let result = 'ready';
  try {
    const server = await startServer({ folder: dataFolder, env: { ...shim.env, ...env } });
    await untilReady(server, readyMs).catch((error: unknown) => {
      result = `not ready: ${(error as Error).message}`;
    });
    shim.end();
    await server.stop();
  } catch (error) {
    result = (error as Error).message;
  }
  shim.end();
  met?.ran(fault, shim.hits, kind);
  shim.close();
  const next = await startServer({ folder: dataFolder, env });
  await untilReady(next);
  if (kind === 'filled') {
    const { Body } = await clientOf(next).send(new GetObjectCommand({ Bucket, Key: 'key' }));
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
  }
  await next.stop();
  await rm(own, { recursive: true });
  return result;
}

const noQuota = /exited with 1 .*\n.*data folder \S+ cannot be used: .*the quota of the user is used up/s;

describe('a start of the server while calls fail', { timeout: 360_000 }, () => {
  it.each<[string, 'new' | 'filled', Fault, RegExp]>([
    ['goes on without hard links', 'new', { ops: ['link'], in: 'all', error: 'EPERM', every: 1 }, /^ready$/],
    ['names a quota of inodes', 'new', { ops: ['mkdir'], in: 'rest', error: 'EDQUOT', every: 1 }, noQuota],
    ['names a quota of files', 'new', { ops: ['create'], in: 'rest', error: 'EDQUOT', every: 1 }, noQuota],
    [
      'names a quota of bytes',
      'new',
      { ops: ['write', 'flushed write'], in: 'rest', error: 'EDQUOT', every: 1 },
      noQuota,
    ],
    ['names the want of locks', 'filled', { ops: ['lock'], in: 'all', error: 'ENOLCK', every: 1 }, /gives no locks/],
    [
      'names the want of mappings',
      'filled',
      { ops: ['mmap'], in: 'all', error: 'ENODEV', every: 1 },
      /cannot map files/,
    ],
    [
      'names the record file that cannot be read',
      'filled',
      { ops: ['read'], in: 'records', error: 'EIO', every: 1 },
      /the record file \S+data\.mdb cannot be read: the disk reports an error/,
    ],
  ])('%s', async (_what, kind, fault, expected) => {
    expect(await startWith(kind, fault)).toMatch(expected);
  });
});

/** Each call of a start with each error. A file system that cannot map one file cannot map the others. */
const allOfStart = allFaults({ places: ['records', 'blobs', 'rest'], every: 1 }).filter(
  ({ ops: [op] }) => op !== 'mmap',
);
for (const error of Object.keys(errors) as (keyof typeof errors)[]) {
  if (error === 'part' || error === 'EINTR') continue;
  allOfStart.push(
    { ops: ['mmap'], in: 'all', error, every: 1, times: 1 },
    { ops: ['mmap'], in: 'all', error, every: 1 },
  );
}

describe(`calls that fail one kind after the other, ${runName}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(isSwept)('end a start with a word, or not at all', async () => {
    const wrong: string[] = [];
    const met = new MetFaults();
    const starts = faultsOfRun(allOfStart, 20).map((fault, at) => ({
      fault,
      kind: at % 2 === 0 ? ('filled' as const) : ('new' as const),
    }));
    // Most starts wait: for what is slow, or for readiness that does not come.
    await mapLimit(starts, 4, async ({ fault, kind }) => {
      if (met.skips(fault, kind)) return;
      const result = await startWith(kind, fault, 4_000, met).catch(
        (error: unknown) => `the next start: ${String(error)}`,
      );
      // LMDB gives the record file up in a thread that serves already; the process then says so and ends itself by SIGKILL.
      const isGivenUp = /exited with null .*\n.*"level":"fatal".*record-file-failed/s.test(result);
      const isNamed = isGivenUp || /exited with 1 .*\n.*\S/s.test(result);
      const named = isNamed || result === 'ready' || result.startsWith('not ready');
      if (!named) wrong.push(`${describeFault(fault)}: ${result.slice(0, 500)}`);
    });
    expect(wrong).toEqual([]);
    report(`starts of a server: ${met.summary()}`);
  });
});
