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
  readonly #began = performance.now();
  #place: number | undefined;
  #firstByteSeconds: number | undefined;

  constructor(counters: RequestCounters) {
    this.#counters = counters;
  }

  /** To be called once, by who finds the operation. */
  isFor(operation: string): void {
    this.#place = this.#counters.placeOf(operation);
    if (this.#place !== undefined) this.#counters.began(this.#place);
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
  }
}
