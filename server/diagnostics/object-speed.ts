import type { ObjectSpeed, ObjectSpeedOptions, SpeedSums } from '../administration/diagnostics.ts';
import { bodyFrom } from '../objects/contract/body-source.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { eachChunk } from '../streams/chunks.ts';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ExclusiveTasks } from './exclusive-task.ts';
import { adminError } from '../administration/admin-error.ts';

export type SpeedObjects = Pick<
  ObjectLayer,
  | 'createBucket'
  | 'deleteBucket'
  | 'putObject'
  | 'getObject'
  | 'deleteObject'
  | 'listObjectVersions'
  | 'getObjectLockConfiguration'
>;

interface ObjectSpeedContext {
  readonly objects: SpeedObjects;
  readonly tasks: ExclusiveTasks;
  /** Free bytes of the blob store; undefined if unknown. */
  readonly free: () => Promise<number | undefined>;
  readonly random: (size: number) => Buffer;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** The bounds of a measurement: it shares the server with its clients. */
const limits = {
  durationMs: 60_000,
  concurrency: 256,
  size: 1024 ** 3,
  /** Bytes that all rounds write, and the share of the free space. */
  bytes: 32 * 1024 ** 3,
  freeShare: 0.25,
  /** Objects that all rounds write: their keys are in memory. */
  objects: 500_000,
  rounds: 4,
} as const;
/** A round must be faster by this much for another one with more at a time. */
const worthwhile = 1.05;
const chunkBytes = 256 * 1024;
const maxSamples = 100_000;
/** Milliseconds for the removal of the objects, after which another server may take over. */
const removalMs = 10 * 60_000;
const bucketPrefix = 'coffer-speedtest-';

/**
 * Measures writes and reads of objects through the object layer: without HTTP and signatures, on one thread of one server. It removes the
 * objects at the end, also where the client disconnects; the next measurement removes those of a server that was killed.
 */
export async function* measureObjects(
  context: ObjectSpeedContext,
  asked: ObjectSpeedOptions,
  signal: AbortSignal,
): AsyncGenerator<ObjectSpeed, void> {
  const { objects, tasks, random } = context;
  const options = {
    ...asked,
    durationMs: Math.min(asked.durationMs, limits.durationMs),
    concurrency: Math.min(asked.concurrency, limits.concurrency),
  };
  if (options.size > limits.size)
    throw adminError('XMinioAdminInvalidArgument', `The size is above ${limits.size} bytes.`);
  const maxBytes = Math.min(limits.bytes, ((await context.free()) ?? Infinity) * limits.freeShare);
  if (options.size * options.concurrency > maxBytes) {
    throw adminError(
      'XMinioSpeedtestInsufficientCapacity',
      `${options.concurrency} objects of ${options.size} bytes are more than a quarter of the free space: ask for smaller or fewer ones.`,
    );
  }
  if (options.bucket !== undefined && (await objects.getObjectLockConfiguration(options.bucket)) !== undefined) {
    throw adminError('XCofferRefused', `The bucket ${options.bucket} locks objects, which could not be removed.`);
  }
  const bucket = options.bucket ?? `${bucketPrefix}${random(8).toString('hex')}`;
  const maxMs = 2 * limits.rounds * options.durationMs + removalMs;
  const { killed, end } = await tasks.begin('speed test', maxMs, options.bucket === undefined ? bucket : undefined);
  const test = new ObjectSpeedTest(context, { ...options, bucket, maxBytes }, signal);
  try {
    if (killed?.leaves?.startsWith(bucketPrefix) === true) await removeBucket(objects, killed.leaves);
    if (options.bucket === undefined) await objects.createBucket(bucket, { location: '' });
    yield* test.rounds();
  } finally {
    if (!options.keep || options.bucket === undefined) await test.removeObjects();
    if (options.bucket === undefined) await removeBucket(objects, bucket);
    await end();
  }
}

/** An object that the test wrote. */
interface Written {
  readonly key: string;
  readonly versionId: string | undefined;
}

interface TestOptions extends Omit<ObjectSpeedOptions, 'bucket'> {
  readonly bucket: string;
  readonly maxBytes: number;
}

class ObjectSpeedTest {
  readonly #context: ObjectSpeedContext;
  readonly #options: TestOptions;
  readonly #signal: AbortSignal;
  readonly #written: Written[] = [];
  readonly #pattern: Buffer;
  readonly #prefix: string;
  #bytes = 0;

  constructor(context: ObjectSpeedContext, options: TestOptions, signal: AbortSignal) {
    this.#context = context;
    this.#options = options;
    this.#signal = signal;
    // Random bytes, which no drive compresses.
    this.#pattern = context.random(Math.max(1, Math.min(chunkBytes, options.size)));
    this.#prefix = `speedtest/${context.random(8).toString('hex')}`;
  }

  async *rounds(): AsyncGenerator<ObjectSpeed, void> {
    const { size, autotune } = this.#options;
    let { concurrency } = this.#options;
    let best = 0;
    for (let round = 1; round <= limits.rounds && !this.#signal.aborted; round += 1) {
      const writes = await this.#writes(concurrency, round);
      const reads = writes.error === undefined ? await this.#reads(concurrency) : none;
      yield { size, concurrency, writes, reads };
      const speed = writes.bytesPerSecond + reads.bytesPerSecond;
      const goesOn = autotune && writes.error === undefined && reads.error === undefined && speed > best * worthwhile;
      if (!goesOn || concurrency * 2 > limits.concurrency || this.#bytes >= this.#options.maxBytes) return;
      best = speed;
      concurrency *= 2;
    }
  }

  #writes(concurrency: number, round: number): Promise<SpeedSums> {
    const { objects, clock } = this.#context;
    const { bucket, size, maxBytes } = this.#options;
    return this.#measure(concurrency, async (worker, count) => {
      if (this.#bytes + size > maxBytes || this.#written.length >= limits.objects) return undefined;
      this.#bytes += size;
      const key = `${this.#prefix}/${round}/${worker}/${count}`;
      const began = clock();
      const { versionId } = await objects.putObject({
        bucket,
        key,
        body: bodyFrom(this.#body()),
        size,
        digests: {},
        headers: { contentType: 'application/octet-stream', metadata: {} },
      });
      const ms = clock() - began;
      this.#written.push({ key, versionId });
      return { ms };
    });
  }

  #reads(concurrency: number): Promise<SpeedSums> {
    const { objects, clock } = this.#context;
    const { bucket, size } = this.#options;
    let next = 0;
    return this.#measure(concurrency, async () => {
      const object = this.#written[next % this.#written.length];
      next += 1;
      if (object === undefined) return undefined;
      const began = clock();
      const { read } = await objects.getObject(bucket, object.key, { versionId: object.versionId });
      const bytes = read({ start: 0, end: size });
      let firstByteMs = clock() - began;
      if (!Buffer.isBuffer(bytes)) {
        let isFirst = true;
        for await (const _chunk of eachChunk(bytes)) {
          if (isFirst) firstByteMs = clock() - began;
          isFirst = false;
        }
      }
      return { ms: clock() - began, firstByteMs };
    });
  }

  /** Runs the work again and again until the time is over, or it returns undefined. The first error ends it. */
  async #measure(
    concurrency: number,
    work: (
      worker: number,
      count: number,
    ) => Promise<{ readonly ms: number; readonly firstByteMs?: number } | undefined>,
  ): Promise<SpeedSums> {
    const { clock } = this.#context;
    const { durationMs, size } = this.#options;
    const times: number[] = [];
    const firstByteTimes: number[] = [];
    let objects = 0;
    let error: string | undefined;
    const began = clock();
    const isOver = () => clock() - began >= durationMs || this.#signal.aborted || error !== undefined;
    await mapLimit(
      Array.from({ length: concurrency }, (_, worker) => worker),
      concurrency,
      async (worker) => {
        for (let count = 0; !isOver(); count += 1) {
          try {
            const done = await work(worker, count);
            if (done === undefined) return;
            objects += 1;
            if (times.length < maxSamples) times.push(done.ms);
            if (done.firstByteMs !== undefined && firstByteTimes.length < maxSamples)
              firstByteTimes.push(done.firstByteMs);
          } catch (failure) {
            error ??= failure instanceof S3Error ? `${failure.code}: ${failure.message}` : 'the stores failed';
          }
        }
      },
    );
    const seconds = Math.max(0.001, (clock() - began) / 1_000);
    return {
      bytesPerSecond: Math.round((objects * size) / seconds),
      objectsPerSecond: Math.round(objects / seconds),
      times,
      firstByteTimes,
      ...(error !== undefined && { error }),
    };
  }

  /** Each chunk is a copy: the object layer writes over what it gets. */
  *#chunks(): Generator<Buffer> {
    for (let left = this.#options.size; left > 0; left -= this.#pattern.length)
      yield Buffer.from(this.#pattern.subarray(0, Math.min(left, this.#pattern.length)));
  }

  // oxlint-disable-next-line require-await -- bodies are asynchronous
  async *#body(): AsyncGenerator<Buffer> {
    yield* this.#chunks();
  }

  async removeObjects(): Promise<void> {
    const { objects } = this.#context;
    const { bucket } = this.#options;
    await mapLimit(this.#written, 16, async ({ key, versionId }) => {
      await objects.deleteObject(bucket, key, versionId === undefined ? {} : { versionId }).catch(() => undefined);
    });
  }
}

const none: SpeedSums = { bytesPerSecond: 0, objectsPerSecond: 0, times: [], firstByteTimes: [] };

/** Removes a temporary bucket with all that is in it. */
async function removeBucket(objects: SpeedObjects, bucket: string): Promise<void> {
  try {
    for (;;) {
      const page = await objects.listObjectVersions({
        bucket,
        prefix: '',
        delimiter: '',
        keyMarker: '',
        versionIdMarker: undefined,
        limit: 1_000,
      });
      if (page.versions.length === 0) break;
      await mapLimit(page.versions, 16, async ({ key, versionId }) =>
        objects.deleteObject(bucket, key, versionId === 'null' ? {} : { versionId }),
      );
    }
    await objects.deleteBucket(bucket);
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== 'NoSuchBucket') throw error;
  }
}
