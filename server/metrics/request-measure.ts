import type { BucketCounters } from './bucket-counters.ts';
import type { RequestCounters } from './request-counters.ts';

/** How a request ended: with a status, or because its client went away. */
export type RequestOutcome = number | 'canceled';

/** Codes by which a request is refused for who sends it; what a policy denies is no such refusal. */
const authCodes: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidTokenId',
  'SignatureDoesNotMatch',
  'UnsupportedSignature',
]);

/** Counts one request. It counts nothing until the request is known to be for an S3 operation: probes and the admin API are none. */
export class RequestMeasure {
  readonly #counters: RequestCounters;
  readonly #buckets: BucketCounters | undefined;
  readonly #began = performance.now();
  #place: number | undefined;
  #operation = '';
  #bucket = '';
  /** Of the bucket, where it had one as the request began. */
  #bucketPlace: number | undefined;
  #received = 0;
  #sent = 0;
  #firstByteSeconds: number | undefined;

  constructor(counters: RequestCounters, buckets?: BucketCounters) {
    this.#counters = counters;
    this.#buckets = buckets;
  }

  /** To be called once, by who finds the operation. The bucket is empty where the request is for none. */
  isFor(operation: string, bucket = ''): void {
    this.#place = this.#counters.placeOf(operation);
    if (this.#place === undefined) return;
    this.#counters.began(this.#place);
    if (bucket === '') return;
    this.#operation = operation;
    this.#bucket = bucket;
    this.#bucketPlace = this.#buckets?.began(bucket, operation);
  }

  /** Bytes of the bodies, as far as they are known beforehand. */
  moved(received: number, sent: number): void {
    this.#received = received;
    this.#sent = sent;
  }

  /** The first byte of the answer goes out. */
  firstByte(): void {
    this.#firstByteSeconds ??= (performance.now() - this.#began) / 1_000;
  }

  /** Milliseconds until the answer began; undefined where it has not. */
  get firstByteMs(): number | undefined {
    return this.#firstByteSeconds === undefined ? undefined : this.#firstByteSeconds * 1_000;
  }

  /** @param code of the `S3Error` */
  refused(code: string): void {
    if (this.#place === undefined) return;
    if (code === 'RequestTimeTooSkewed') this.#counters.rejected('timestamp');
    else if (authCodes.has(code)) this.#counters.rejected('auth');
  }

  ended(outcome: RequestOutcome): void {
    if (this.#place === undefined) return;
    this.#counters.ended(this.#place, outcome, this.#firstByteSeconds);
    this.#place = undefined;
    if (this.#bucket === '') return;
    this.#buckets?.ended(this.#bucket, this.#operation, this.#bucketPlace, {
      outcome,
      firstByteSeconds: this.#firstByteSeconds,
      received: this.#received,
      sent: this.#sent,
    });
  }
}
