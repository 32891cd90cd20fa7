import { CreateBucketCommand, GetObjectCommand, NoSuchBucket, NoSuchKey, type S3Client } from '@aws-sdk/client-s3';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { BUCKET_THERE, contentOf, isObjectName, placeOf } from '../crash/expected.ts';
import { writeUntilGone } from '../crash/writers.ts';
import { BUCKET, VERSIONS } from '../crash/writing.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { History } from './history.ts';

const WRITERS = 6;
const READERS = 3;
/** A flush takes so long that what is shown before it has ended is seen. */
const FLUSH_MS = 15;

export interface Recording {
  readonly base: string;
  readonly bytes: Buffer;
  readonly history: History;
}

export function compileRecorder(folder: string): string {
  const library = join(folder, 'recorder.so');
  const source = fileURLToPath(new URL('recorder.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl', '-lpthread'], { stdio: 'inherit' });
  return library;
}

/** Runs a real server under the recorder while clients write and read, and kills it. */
export async function recordServer(options: {
  readonly folder: string;
  readonly library: string;
  readonly seed: number;
  readonly forMs: number;
}): Promise<Recording> {
  const base = join(options.folder, 'disk');
  const log = join(options.folder, 'recording');
  mkdirSync(base);
  const server = await startServer({
    folder: join(base, 'data'),
    env: {
      LD_PRELOAD: options.library,
      RECORDER_BASE: base,
      RECORDER_LOG: log,
      RECORDER_DELAY_MS: String(FLUSH_MS),
      // Its writes would pass the recorder by.
      UV_USE_IO_URING: '0',
    },
  });
  const length = () => statSync(log).size;
  const history = new History(length);
  try {
    await untilReady(server);
    const s3 = clientOf(server);
    for (const bucket of [BUCKET, VERSIONS]) {
      history.begin(`${bucket}/`, BUCKET_THERE);
      await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: bucket === VERSIONS }));
      history.acknowledge(`${bucket}/`);
    }
    const stop = new AbortController();
    const random = new SeededRandom(options.seed);
    const own = () => new SeededRandom(random.between(0, 2 ** 30));
    const clients = [
      ...Array.from({ length: WRITERS }, (_, index) => {
        const place = index % 2 === 0 ? { bucket: BUCKET } : { bucket: VERSIONS, versions: true };
        return writeUntilGone(
          { s3, ...place, writer: `writer-${index}`, random: own(), witness: history },
          stop.signal,
        );
      }),
      ...Array.from({ length: READERS }, () => readUntilGone(clientOf(server), own(), history, length, stop.signal)),
    ];
    await sleep(options.forMs);
    await server.kill();
    stop.abort();
    await Promise.all(clients);
  } finally {
    await server.kill();
  }
  return { base, bytes: readFileSync(log), history };
}

async function readUntilGone(
  s3: S3Client,
  random: SeededRandom,
  history: History,
  length: () => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const keys = history.keysOnTheirWay.filter(isObjectName);
    const key = keys[random.between(0, keys.length - 1)];
    if (key === undefined) {
      await sleep(1);
      continue;
    }
    try {
      const asked = length();
      const { Body } = await s3.send(new GetObjectCommand(placeOf(key)));
      // The head of the answer is here: from now on the object has been seen.
      const seen = length();
      const bytes = await Body?.transformToByteArray();
      if (bytes !== undefined) history.sight({ key, content: contentOf(bytes), asked, seen });
    } catch (error) {
      if (!(error instanceof NoSuchKey || error instanceof NoSuchBucket)) return;
    }
  }
}
