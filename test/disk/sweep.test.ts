import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaintsAbout } from '../crash/compare.ts';
import { BUCKET_THERE, ExpectedObjects, ExpectedUploads } from '../crash/expected.ts';
import { clientOf } from '../crash/s3-client.ts';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { writeUntilGone } from '../crash/writers.ts';
import { BUCKET, VERSIONS } from '../crash/writing.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { compileIoFaults, errors, type Fault, IoFaults, ops } from './io-faults.ts';

const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);
/** The faults that are tried, of all; none without a number. `.ci/soak sweep` tries all. */
const wanted = Number(process.env['COFFER_SWEEP'] ?? 0);
const WRITERS = 4;
/** Milliseconds that each fault lasts. */
const LASTS = 300;
const names = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

/** Each call with each error in each place: the first one only, and all of them for a while. */
function allFaults(): Fault[] {
  const all: Fault[] = [];
  for (const op of names(ops)) {
    const isOfNetwork = op === 'socket' || op === 'accept';
    for (const place of isOfNetwork ? (['network'] as const) : (['records', 'blobs', 'rest'] as const)) {
      for (const error of names(errors)) {
        if (error === 'part' && !['write', 'flushed write', 'read'].includes(op)) continue;
        // The kernel does not let the memory that LMDB maps fail in this way.
        all.push({ ops: [op], in: place, error, every: 1, times: 1 }, { ops: [op], in: place, error, every: 2 });
      }
    }
  }
  return all;
}

const describeFault = ({ ops: [op], in: place, error, times }: Fault) =>
  `${op} in ${place}: ${error}${times === 1 ? ' once' : ''}`;

/** The server ends itself where the state of the record file is unknown, and nowhere else (docs/guides/server.md). */
const mayEnd = ({ ops: [op = 'read'], in: place, error }: Fault) =>
  place === 'records' && ['write', 'flushed write', 'flush', 'truncate'].includes(op) && error !== 'slow';

/** Of an error that passes by itself, and of a server that starts again. */
const answers = new Set(['500 InternalError', '503 ServiceUnavailable', '503 SlowDown']);

let folder: string;
let library: string;

beforeAll(async () => {
  // The shim compares paths as the kernel knows them.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'coffer-sweep-')));
  library = compileIoFaults(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`a server whose calls fail one kind after the other, seed ${seed}`, { timeout: 4 * 3_600_000 }, () => {
  it.runIf(wanted > 0)('loses nothing that it acknowledged, and ends only where the guide says so', async () => {
    const random = new SeededRandom(seed);
    const faults = allFaults()
      .map((fault) => ({ fault, order: random.between(0, 2 ** 30) }))
      .toSorted((left, right) => left.order - right.order)
      .slice(0, wanted)
      .map(({ fault }) => fault);
    const expected = new ExpectedObjects();
    const uploads = new ExpectedUploads();
    const dataFolder = join(folder, 'data');
    await mkdir(dataFolder);
    const shim = new IoFaults({ folder, dataFolder, library });
    const wrong: string[] = [];
    let hits = 0;
    let current: Fault | undefined;
    let before: Fault | undefined;
    let server: RunningServer | undefined;
    let writers: Promise<unknown> = Promise.resolve();
    let stop = new AbortController();

    const start = async () => {
      server = await startServer({ folder: dataFolder, env: { ...shim.env, SVC_THREADS: '2' } });
      await untilReady(server, 60_000);
      return clientOf(server);
    };
    const write = (s3: S3Client) => {
      stop = new AbortController();
      writers = Promise.all(
        Array.from({ length: WRITERS }, (_, index) =>
          writeUntilGone(
            {
              s3,
              // A name of its own for each server: what it asked of the one before is not known.
              writer: `writer-${index}-${server?.pid}`,
              bucket: index % 2 === 0 ? BUCKET : VERSIONS,
              versions: index % 2 === 1,
              random: new SeededRandom(random.between(0, 2 ** 30)),
              witness: expected,
              uploads,
              onTrouble: (status, code) => {
                if (!answers.has(`${status} ${code}`))
                  wrong.push(`${current && describeFault(current)}: ${status} ${code}`);
              },
            },
            stop.signal,
          ),
        ),
      );
    };
    const end = async () => {
      await server?.kill();
      stop.abort();
      await writers;
    };

    try {
      const s3 = await start();
      for (const bucket of [BUCKET, VERSIONS]) {
        expected.begin(`${bucket}/`, BUCKET_THERE);
        await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: bucket === VERSIONS }));
        expected.acknowledge(`${bucket}/`);
      }
      write(s3);
      for (const fault of faults) {
        before = current;
        current = fault;
        shim.begin(fault);
        await sleep(LASTS);
        shim.end();
        hits += shim.hits > 0 ? 1 : 0;
        await sleep(50);
        const ended = server?.ended();
        if (ended === undefined) continue;
        // The end may come a moment after the fault.
        if (!(mayEnd(fault) || (before !== undefined && mayEnd(before))) || ended !== 'SIGKILL') {
          wrong.push(`${describeFault(fault)}: ended with ${ended}: ${server?.log.slice(-5).join(' | ')}`);
        }
        await end();
        wrong.push(...(await verifyFolder(dataFolder)).complaints.map((one) => `${describeFault(fault)}: ${one}`));
        write(await start());
      }
    } finally {
      shim.end();
      await end();
    }
    wrong.push(...(await verifyFolder(dataFolder)).complaints);
    const next = await startServer({ folder: dataFolder });
    try {
      await untilReady(next, 60_000);
      wrong.push(...(await complaintsAbout(clientOf(next), expected, uploads)));
    } finally {
      await next.stop();
    }
    wrong.push(...(await verifySweptFolder(dataFolder)).complaints);
    shim.close();
    expect(wrong).toEqual([]);
    // Many calls are not made by this load: LMDB opens its file once.
    expect(hits).toBeGreaterThan(wanted / 10);
  });
});
