import { bucket, type Load, type PreparedRound, type Round } from '../loads/load.ts';
import { describeFailures } from '../loads/objects.ts';
import { percentile } from '../statistics.ts';
import { ask, askWell } from './ask.ts';
import { drive } from './drive.ts';
import { type Endpoint, RequestSigner } from './request-signer.ts';
import { RequestRing } from './request-ring.ts';

/** Milliseconds that a round of a fixed number of requests may take. Signatures expire later. */
const wholeMs = 840_000;

/** The figures of one round, as the generator measured them. */
export interface Measured {
  readonly operations: number;
  readonly milliseconds: number;
  /** Bytes of bodies, sent and received. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Seconds of processor time of the generator. */
  readonly generatorCpu: number;
}

const enabled = Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');

const notified = Buffer.from(
  '<NotificationConfiguration><QueueConfiguration><Queue>arn:minio:sqs::_:webhook</Queue><Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>',
);

/** The settings of the bucket of all loads. */
export interface BenchBucket {
  readonly versioned: boolean;
  /** Each write sends an event to the webhook of the server. */
  readonly webhook: boolean;
}

/** Creates the bucket of all loads. */
export async function makeBucket(endpoint: Endpoint, { versioned, webhook }: BenchBucket): Promise<void> {
  const { status } = await ask(endpoint, { method: 'HEAD', path: `/${bucket}`, query: '' });
  if (status !== 200) await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: '' });
  if (versioned) await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: 'versioning=' }, enabled);
  if (webhook) await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: 'notification=' }, notified);
}

/** One round of a load: `prepare`, `run` (the measured part), `finish`. */
export class RoundInProgress {
  readonly #round: Round;
  readonly #prepared: PreparedRound;
  readonly #ring: RequestRing;
  #done = 0;

  private constructor(round: Round, prepared: PreparedRound) {
    this.#round = round;
    this.#prepared = prepared;
    this.#ring = new RequestRing(prepared.requests, new RequestSigner(round.endpoint, new Date()));
  }

  static async prepare(load: Load, round: Round): Promise<RoundInProgress> {
    return new RoundInProgress(round, await load.prepare(round));
  }

  /** Runs the measured part. It throws when an answer is wrong. */
  async run(): Promise<Measured> {
    const { repeat, whole, operations } = this.#prepared;
    const { endpoint: address, connections, seconds } = this.#round;
    const milliseconds = whole === true ? wholeMs : seconds * 1000;
    const cpu = process.cpuUsage();
    const driven = await drive({ address, ring: this.#ring, connections, milliseconds, repeat });
    this.#done = driven.operations;
    if (driven.failures.size > 0) throw new Error(`answers were wrong: ${describeFailures(driven.failures)}`);
    const concluding = performance.now();
    await this.#prepared.conclude?.();
    const { user, system } = process.cpuUsage(cpu);
    const latencies = driven.latencies.toSorted();
    return {
      operations: operations ?? driven.operations,
      milliseconds: driven.milliseconds + performance.now() - concluding,
      bytes: driven.bytesSent + driven.bytesReceived,
      p50: percentile(latencies, 0.5) / 1000,
      p99: percentile(latencies, 0.99) / 1000,
      generatorCpu: (user + system) / 1e6,
    };
  }

  /** Verifies and removes the objects, outside the measured time. */
  async finish(): Promise<void> {
    await this.#prepared.verify(this.#done);
    await this.#prepared.clear(this.#done);
  }
}
