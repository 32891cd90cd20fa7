import type { StructuredLog } from '../../../platform/output/structured-log.ts';
import { ownerId } from '../../../protocol/s3/acl.ts';
import type { BucketLogging } from '../../../protocol/s3/bucket-logging.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { accountId } from '../../auth/principal.ts';
import type { FinishedRequest, RequestEvents } from '../../http/contract/request.ts';
import { bodyFrom } from '../../objects/contract/body-source.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { headerIn } from '../../http/contract/request-audit.ts';
import { accessLogLine } from './access-log-line.ts';
import { LineBuffer } from './line-buffer.ts';

interface AccessLogsOptions {
  readonly events: RequestEvents;
  readonly objects: Pick<ObjectLayer, 'deliverObject'>;
  /** Reads the buckets that have logs. */
  readonly loggings: () => Promise<ReadonlyMap<string, BucketLogging>>;
  readonly region: string;
  readonly log: Pick<StructuredLog, 'warn'>;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
  /** Milliseconds. */
  readonly deliveryIntervalMs: number;
  readonly maxBytes?: number;
}

/** The maximum of bytes of a thread's lines that wait. Further ones are left out, and the log counts them. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of an object. */
const OBJECT_BYTES = 4 * 1024 * 1024;
/** The count of lines that are written together. Written by itself between two requests, a line takes twice the time. */
const WRITTEN_TOGETHER = 16;
/** Milliseconds between two looks at which buckets have logs. */
const LOOK_INTERVAL = 5_000;

/** The lines of a bucket, of one day by the time of the requests. */
interface Batch {
  readonly bucket: string;
  readonly day: string;
  readonly lines: LineBuffer;
}

/**
 * The access logs of a thread: it collects a line for each request to a bucket with logs, and delivers them as objects. A server that is
 * killed loses the lines of one interval. The delivery is not a request: it is in no log. Without buckets that have logs, no request is
 * observed.
 */
export class AccessLogs {
  readonly #options: AccessLogsOptions;
  readonly #batches = new Map<string, Batch>();
  readonly #timers: NodeJS.Timeout[] = [];
  #loggings: ReadonlyMap<string, BucketLogging> = new Map();
  #unsubscribe: (() => void) | undefined;
  readonly #unwritten: FinishedRequest[] = [];
  #bytes = 0;
  /** The batch of the last line. */
  #last: Batch | undefined;
  #day = { days: NaN, text: '' };
  #leftOut = 0;
  #delivering: Promise<void> = Promise.resolve();

  constructor(options: AccessLogsOptions) {
    this.#options = options;
  }

  /** Looks now, and then at intervals. */
  async start(): Promise<void> {
    await this.look();
    this.#timers.push(
      setInterval(() => void this.look(), LOOK_INTERVAL).unref(),
      setInterval(() => void this.deliver(), this.#options.deliveryIntervalMs).unref(),
    );
  }

  /** Reads again which buckets have logs. The next look makes up for a failed one. */
  async look(): Promise<void> {
    const { loggings, events } = this.#options;
    try {
      this.#loggings = await loggings();
    } catch {
      return;
    }
    if (this.#loggings.size === 0) {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    } else this.#unsubscribe ??= events.subscribe((finished) => this.#take(finished));
  }

  /** Delivers what waits. Never rejects. */
  deliver(): Promise<void> {
    this.#delivering = this.#delivering.then(() => this.#deliverAll());
    return this.#delivering;
  }

  /** Delivers what waits, and ends. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#unsubscribe?.();
    await this.deliver();
  }

  #take(finished: FinishedRequest): void {
    if (!this.#loggings.has(finished.bucket ?? '')) return;
    const place = this.#unwritten.push(finished);
    // The count of sent bytes of an answer without a declared length is that of the connection, and grows with the next answer.
    const isCounted =
      finished.outcome === 'answered' && headerIn(finished.responseHeaders, 'content-length') !== undefined;
    if (place >= WRITTEN_TOGETHER || !isCounted) this.#writeLines();
  }

  #writeLines(): void {
    for (const finished of this.#unwritten.splice(0)) this.#write(finished);
  }

  #write(finished: FinishedRequest): void {
    const { bucket = '' } = finished;
    const line = accessLogLine(finished, ownerId);
    if (this.#bytes + line.length > (this.#options.maxBytes ?? MAX_BYTES)) {
      this.#leftOut += 1;
      return;
    }
    const { lines } = this.#batchOf(bucket, this.#dayOf(finished.startedAt));
    const before = lines.size;
    lines.append(line);
    this.#bytes += line.length;
    // A batch above the size was not delivered, and waits for the timed delivery: each attempt copies it.
    if (before < OBJECT_BYTES && lines.size >= OBJECT_BYTES) void this.deliver();
  }

  #batchOf(bucket: string, day: string): Batch {
    if (this.#last?.bucket === bucket && this.#last.day === day) return this.#last;
    const name = `${day} ${bucket}`;
    const batch = this.#batches.get(name) ?? { bucket, day, lines: new LineBuffer() };
    this.#batches.set(name, batch);
    this.#last = batch;
    return batch;
  }

  /** The date of most requests is that of the last one. */
  #dayOf(ms: number): string {
    const days = Math.floor(ms / 86_400_000);
    if (days !== this.#day.days) this.#day = { days, text: new Date(ms).toISOString().slice(0, 10) };
    return this.#day.text;
  }

  async #deliverAll(): Promise<void> {
    this.#writeLines();
    if (this.#leftOut > 0) {
      this.#options.log.warn(
        { lines: this.#leftOut },
        'access logs: lines were left out, as too many wait for delivery',
      );
      this.#leftOut = 0;
    }
    // A batch that is put back belongs to the next delivery, and so do the lines that come meanwhile.
    const waiting = new Map(this.#batches);
    this.#batches.clear();
    this.#last = undefined;
    for (const [name, batch] of waiting) {
      const logging = this.#loggings.get(batch.bucket);
      const delivered = logging === undefined || (await this.#deliverBatch(logging, batch));
      if (delivered) this.#bytes -= batch.lines.size;
      else this.#restore(name, batch);
    }
  }

  /** Returns false for a failure that may pass. */
  async #deliverBatch(logging: BucketLogging, batch: Batch): Promise<boolean> {
    const { objects, log } = this.#options;
    // A copy: the object layer may write over it, and a failed delivery is repeated.
    const bytes = batch.lines.toBytes();
    const key = this.#keyOf(logging, batch);
    try {
      await objects.deliverObject({
        service: 'logging.s3.amazonaws.com',
        bucket: logging.targetBucket,
        key,
        body: bodyFrom(once(bytes)),
        size: bytes.length,
        digests: {},
        headers: { contentType: 'text/plain', metadata: {} },
      });
      return true;
    } catch (error) {
      const isGone = error instanceof S3Error && error.code === 'NoSuchBucket';
      log.warn(
        { err: error, bucket: batch.bucket, target: logging.targetBucket, key },
        isGone
          ? 'access logs: the target bucket is gone, and the lines with it'
          : 'access logs: an object could not be written; the next delivery tries it again',
      );
      return isGone;
    }
  }

  /** Puts a batch back, before the lines that came meanwhile. */
  #restore(name: string, batch: Batch): void {
    const since = this.#batches.get(name);
    if (since !== undefined) batch.lines.appendAll(since.lines);
    this.#batches.set(name, batch);
    this.#last = undefined;
  }

  #keyOf({ targetPrefix, partitionBy }: BucketLogging, { bucket, day }: Batch): string {
    const { region, clock, random } = this.#options;
    const now = new Date(clock()).toISOString();
    const unique = random(8).toString('hex').toUpperCase();
    const time = `${now.slice(0, 10)}-${now.slice(11, 19).replaceAll(':', '-')}`;
    if (partitionBy === undefined) return `${targetPrefix}${time}-${unique}`;
    const date = partitionBy === 'EventTime' ? day : now.slice(0, 10);
    const name = partitionBy === 'EventTime' ? `${day}-00-00-00` : time;
    return `${targetPrefix}${accountId}/${region}/${bucket}/${date.replaceAll('-', '/')}/${name}-${unique}`;
  }
}

// oxlint-disable-next-line typescript/require-await -- a body is asynchronous
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
