import { hasherOf } from '../../../platform/checksums/hashers.ts';
import type { Chunks } from '../../streams/chunks.ts';
import { checksumAlgorithms } from '../../../protocol/s3/checksum-algorithms.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import type { OpenAnswer } from '../target-client.ts';

/** Returns the checksum of the whole body that a target names; undefined for a part of an object, and for a checksum of checksums. */
function checksumOf({ status, headers }: Pick<OpenAnswer, 'status' | 'headers'>) {
  if (status !== 200 || headers['x-amz-checksum-type'] === 'COMPOSITE') return undefined;
  for (const algorithm of checksumAlgorithms) {
    const value = headers[`x-amz-checksum-${algorithm.toLowerCase()}`];
    if (typeof value === 'string' && !value.includes('-')) return { algorithm, value };
  }
  return undefined;
}

/**
 * The body of an answer of a target, which is read only as fast as it is asked for. The last chunk is given when the checksum is that of
 * all bytes: otherwise `next` rejects, and the client gets less than it was promised. `ended` is called once.
 */
export class ProxiedBody implements Chunks<'own'> {
  readonly ownership = 'own';
  readonly #answer: OpenAnswer;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #checksum: ReturnType<typeof checksumOf>;
  readonly #hasher: ReturnType<typeof hasherOf> | undefined;
  readonly #ended: () => void;
  #held: Buffer | undefined;
  #closed = false;

  constructor(answer: OpenAnswer, ended: () => void) {
    this.#answer = answer;
    this.#chunks = answer.chunks[Symbol.asyncIterator]();
    this.#checksum = checksumOf(answer);
    this.#hasher = this.#checksum && hasherOf(this.#checksum.algorithm);
    this.#ended = ended;
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      const given = this.#held;
      if (done === true) {
        this.#held = undefined;
        if (given !== undefined) this.#verify();
        return given;
      }
      this.#hasher?.update(value);
      this.#held = value;
      if (given !== undefined) return given;
    }
  }

  #verify(): void {
    if (this.#checksum === undefined || this.#hasher === undefined) return;
    const found = this.#hasher.digest().toString('base64');
    if (found === this.#checksum.value) return;
    throw new DeliveryError(
      'rejected',
      `the bytes of the target have the ${this.#checksum.algorithm} ${found}, and not ${this.#checksum.value}`,
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#answer.discard();
    this.#ended();
  }
}
