import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsAbout } from '../crash/compare.ts';
import { ExpectedObjects, ExpectedUploads, BUCKET_THERE } from '../crash/expected.ts';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { writeUntilGone } from '../crash/writers.ts';
import { BUCKET, VERSIONS } from '../crash/writing.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { compileIoFaults, type Fault, IoFaults } from './io-faults.ts';
import { seed } from '../support/seed.ts';

const WRITERS = 6;
/** Milliseconds. Few calls are made on a busy machine, and a part of them only for large bodies. */
const PATIENCE = 60_000;

let folder: string;
let library: string;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-faults-')));
  library = compileIoFaults(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Outcome {
  readonly hits: number;
  /** Answers with 5xx. */
  readonly trouble: readonly string[];
  readonly acknowledged: number;
  /** Of them, after the faults had ended, in the same process. */
  readonly acknowledgedAfter: number;
  /** How the server ended itself, if it did. */
  readonly ended: ReturnType<RunningServer['ended']>;
  readonly log: readonly string[];
  readonly complaints: readonly string[];
}

/** Writes under load, lets calls fail for a while, then ends the server and compares what a next one shows with what was answered. */
async function writeWith(fault: Fault): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const expected = new ExpectedObjects();
  const uploads = new ExpectedUploads();
  const { dataFolder, faults, server } = await startWithFaults();
  const trouble: string[] = [];
  let ended: Outcome['ended'];
  let acknowledgedAfter = 0;
  try {
    const s3 = clientOf(server);
    for (const bucket of [BUCKET, VERSIONS]) {
      expected.begin(`${bucket}/`, BUCKET_THERE);
      await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: bucket === VERSIONS }));
      expected.acknowledge(`${bucket}/`);
    }
    const stop = new AbortController();
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      writeUntilGone(
        {
          s3,
          writer: `writer-${index}`,
          bucket: index % 2 === 0 ? BUCKET : VERSIONS,
          versions: index % 2 === 1,
          random: new SeededRandom(random.between(0, 2 ** 30)),
          witness: expected,
          uploads,
          onTrouble: (status, code) => trouble.push(`${status} ${code}`),
        },
        stop.signal,
      ),
    );
    await sleep(700);
    faults.begin(fault);
    await sleep(1_500);
    await expect.poll(() => faults.hits, { timeout: PATIENCE }).toBeGreaterThan(0);
    // The server may still be trying whether there is room.
    if (fault.times === 1) {
      await expect
        .poll(() => server.ended(), { timeout: PATIENCE })
        .toBeDefined()
        .catch((cause: unknown) => {
          throw new Error(`the server goes on after ${faults.hits} failed calls: ${server.log.slice(-20).join('\n')}`, {
            cause,
          });
        });
    }
    faults.end();
    const then = expected.acknowledgements;
    await sleep(700);
    if (server.ended() === undefined) {
      await expect.poll(() => expected.acknowledgements, { timeout: PATIENCE }).toBeGreaterThan(then);
    }
    acknowledgedAfter = expected.acknowledgements - then;
    ended = server.ended();
    await server.kill();
    stop.abort();
    await Promise.all(writers);
    s3.destroy();
  } finally {
    await server.kill();
  }
  const complaints = [...(await verifyFolder(dataFolder)).complaints];
  const next = await startServer({ folder: dataFolder });
  try {
    await untilReady(next, 60_000);
    complaints.push(...(await complaintsAbout(clientOf(next), expected, uploads)));
  } finally {
    await next.stop();
  }
  complaints.push(...(await verifySweptFolder(dataFolder)).complaints);
  const { hits } = faults;
  faults.close();
  const acknowledged = expected.acknowledgements;
  return { hits, trouble, acknowledged, acknowledgedAfter, ended, log: server.log, complaints };
}

async function startWithFaults(): Promise<{ dataFolder: string; faults: IoFaults; server: RunningServer }> {
  const own = await mkdtemp(join(folder, 'case-'));
  const dataFolder = join(own, 'data');
  await mkdir(dataFolder);
  const faults = new IoFaults({ folder: own, dataFolder, library });
  const server = await startServer({ folder: dataFolder, env: faults.env });
  await untilReady(server, 60_000);
  return { dataFolder, faults, server };
}

/** What the server's log says of failures. */
function reasons(log: readonly string[]): string {
  return log.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)).join('\n');
}

const EIO = /EIO|input\/output error/i;
/** A thread may end the process before the one that met the error has said so: LMDB gives the file up for all of them. */
const EIO_OR_PANIC = /EIO|input\/output error|MDB_PANIC/i;
const ENOSPC = /ENOSPC|no space left|no space is left/i;
const ENOSPC_OR_PANIC = /ENOSPC|no space left|MDB_PANIC/i;
const EDQUOT = /quota/i;
const EFBIG = /EFBIG|file is larger/i;

describe(`a server whose disk fails, seed ${seed}`, { timeout: 300_000 }, () => {
  it.each<[string, Fault, RegExp]>([
    ['a write of a blob', { ops: ['write'], in: 'blobs', error: 'EIO', every: 2 }, EIO],
    ['a write of a blob for want of room', { ops: ['write'], in: 'blobs', error: 'ENOSPC', every: 2 }, ENOSPC],
    ['the flush of a blob or of its folder', { ops: ['flush'], in: 'blobs', error: 'EIO', every: 3 }, EIO],
    ['the renaming of a blob', { ops: ['rename'], in: 'blobs', error: 'EIO', every: 2 }, EIO],
    ['the creation of a blob', { ops: ['create'], in: 'blobs', error: 'ENOSPC', every: 2 }, ENOSPC],
    ['a write of a blob for want of a quota', { ops: ['write'], in: 'blobs', error: 'EDQUOT', every: 2 }, EDQUOT],
    ['the creation of a blob for want of a quota', { ops: ['create'], in: 'blobs', error: 'EDQUOT', every: 2 }, EDQUOT],
    ['a write of a blob beyond a limit', { ops: ['write'], in: 'blobs', error: 'EFBIG', every: 2 }, EFBIG],
  ])('refuses what %s would have stored, says why, and goes on', async (_what, fault, why) => {
    const outcome = await writeWith(fault);
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBeGreaterThan(0);
    expect(reasons(outcome.log)).toMatch(why);
    // The writers do not report 507.
    if (fault.error !== 'EIO') expect(outcome.trouble).toEqual([]);
    expect(outcome.ended).toBeUndefined();
    expect(outcome.acknowledgedAfter).toBeGreaterThan(0);
  });

  it('never gives a blob that it cannot read for whole', async () => {
    const { dataFolder, faults, server } = await startWithFaults();
    try {
      const s3 = clientOf(server);
      await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
      const Body = new SeededRandom(seed).bytes(3_000_000);
      await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'large', Body }));
      const read = async () => {
        const { Body: answered } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'large' }));
        return (await answered?.transformToByteArray())?.length;
      };
      faults.begin({ ops: ['read'], in: 'blobs', error: 'EIO', every: 2 });
      await expect(read()).rejects.toThrow();
      expect(faults.hits).toBeGreaterThan(0);
      // The line comes by another pipe than the answer that was cut.
      await expect.poll(() => reasons(server.log), { timeout: 10_000 }).toMatch(EIO);
      // Nothing is wrong with the bytes: they are given again when the disk is well.
      faults.begin({ ops: ['read'], in: 'blobs', error: 'part', every: 2 });
      expect(await read()).toBe(Body.length);
      expect(faults.hits).toBeGreaterThan(0);
    } finally {
      faults.end();
      await server.kill();
    }
    expect((await verifyFolder(dataFolder)).complaints).toEqual([]);
  });

  it('writes the rest when a write of a blob takes only a part', async () => {
    const outcome = await writeWith({ ops: ['write'], in: 'blobs', error: 'part', every: 1 });
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBeGreaterThan(0);
    expect(outcome.trouble).toEqual([]);
  });

  it('refuses what finds no room in the record file, says why, and goes on', async () => {
    // Often enough that it meets more than deletes, which are tried again in the room that is kept for them.
    const outcome = await writeWith({ ops: ['write'], in: 'records', error: 'ENOSPC', every: 3, times: 30 });
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBeGreaterThan(0);
    expect(reasons(outcome.log)).toMatch(ENOSPC);
    expect(outcome.ended).toBeUndefined();
    expect(outcome.acknowledgedAfter).toBeGreaterThan(0);
  });

  it('refuses the transaction whose flush finds no room, and goes on: LMDB writes its pages again', async () => {
    const outcome = await writeWith({ ops: ['flush'], in: 'records', error: 'ENOSPC', every: 3, times: 30 });
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBeGreaterThan(0);
    expect(reasons(outcome.log)).toMatch(ENOSPC);
    expect(outcome.ended).toBeUndefined();
    expect(outcome.acknowledgedAfter).toBeGreaterThan(0);
  });

  it.each<[string, Fault, RegExp]>([
    ['a write', { ops: ['write'], in: 'records', error: 'EIO', every: 5, times: 1 }, EIO_OR_PANIC],
    ['a flush', { ops: ['flush'], in: 'records', error: 'EIO', every: 5, times: 1 }, EIO_OR_PANIC],
    [
      'the flushed write of the last page',
      { ops: ['flushed write'], in: 'records', error: 'EIO', every: 5, times: 1 },
      EIO_OR_PANIC,
    ],
    [
      'the flushed write of the last page, for want of room,',
      { ops: ['flushed write'], in: 'records', error: 'ENOSPC', every: 5, times: 1 },
      ENOSPC_OR_PANIC,
    ],
    [
      'a write of which only a part is taken',
      { ops: ['flushed write'], in: 'records', error: 'part', every: 5, times: 1 },
      EIO_OR_PANIC,
    ],
  ])('stops at once, and says why, when %s of the record file fails', async (_what, fault, why) => {
    const outcome = await writeWith(fault);
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBe(1);
    expect(outcome.ended).toBe('SIGKILL');
    expect(outcome.acknowledgedAfter).toBe(0);
    expect(reasons(outcome.log)).toMatch(why);
    expect(reasons(outcome.log)).toContain('record-file-failed');
  });

  it('keeps what it answered while anything may fail', async () => {
    const outcome = await writeWith({
      ops: ['write', 'flushed write', 'flush', 'rename', 'read', 'create'],
      in: 'both',
      error: 'EIO',
      every: 40,
    });
    expect(outcome.complaints).toEqual([]);
    expect(outcome.hits).toBeGreaterThan(0);
  });
});
