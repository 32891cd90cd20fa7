import type { BucketCounters, BucketRow } from './bucket-counters.ts';
import type { RequestCounters } from './request-counters.ts';

/** Error codes that refuse the sender of a request. Denials of policies are not among them. */
const authCodes: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidTokenId',
  'SignatureDoesNotMatch',
  'UnsupportedSignature',
]);

/** Counts one request. It counts nothing until the request has an S3 operation: probes and the admin API have none. */
export class RequestMeasure {
  readonly #counters: RequestCounters;
  readonly #buckets: BucketCounters | undefined;
  readonly #began = performance.now();
  #place: number | undefined;
  #operation = '';
  #bucket = '';
  /** The row in which the request is under way. */
  #row: BucketRow | undefined;
  #received = 0;
  #sent = 0;
  #firstByteSeconds: number | undefined;

  constructor(counters: RequestCounters, buckets?: BucketCounters) {
    this.#counters = counters;
    this.#buckets = buckets;
  }

  /** Called once, when the operation is known. The bucket is empty where the request has none. */
  isFor(operation: string, bucket = ''): void {
    this.#place = this.#counters.placeOf(operation);
    if (this.#place === undefined) return;
    this.#counters.began(this.#place);
    if (bucket === '') return;
    this.#operation = operation;
    this.#bucket = bucket;
    this.#row = this.#buckets?.began(bucket, operation);
  }

  /** Bytes of the bodies, as far as they are known in advance. */
  moved(received: number, sent: number): void {
    this.#received = received;
    this.#sent = sent;
  }

  /** Called when the first byte of the answer is sent. */
  firstByte(): void {
    this.#firstByteSeconds ??= (performance.now() - this.#began) / 1_000;
  }

  /** The milliseconds until the answer began; undefined where it has not. */
  get firstByteMs(): number | undefined {
    return this.#firstByteSeconds === undefined ? undefined : this.#firstByteSeconds * 1_000;
  }

  /** @param code the code of the `S3Error` */
  rejected(code: string): void {
    if (this.#place === undefined) return;
    if (code === 'RequestTimeTooSkewed') this.#counters.rejected('timestamp');
    else if (authCodes.has(code)) this.#counters.rejected('auth');
  }

  ended(outcome: number | 'canceled'): void {
    if (this.#place === undefined) return;
    this.#counters.ended(this.#place, outcome, this.#firstByteSeconds);
    this.#place = undefined;
    if (this.#row === undefined) return;
    this.#buckets?.ended(this.#bucket, this.#operation, this.#row, {
      outcome,
      firstByteSeconds: this.#firstByteSeconds,
      received: this.#received,
      sent: this.#sent,
    });
  }
}
