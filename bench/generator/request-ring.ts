import type { PlainRequest, RequestSigner } from './request-signer.ts';

const none = Buffer.alloc(0);

/** A request that the ring prepares. */
export interface RingRequest extends PlainRequest {
  /** The start of the body, which is sent with the head. */
  readonly stamp?: string;
  /** The rest of the body. Many requests share the buffer. */
  readonly tail?: Buffer;
  /** The expected bytes of the answer's body; not checked if absent. */
  readonly answers?: number;
}

/** Signed requests in one block of memory, ready to be sent in order. */
export class RequestRing {
  readonly length: number;
  readonly bytes: Buffer;
  readonly #starts: Uint32Array;
  readonly #tails: Buffer[] = [none];
  readonly #tail: Uint8Array;
  readonly #bodiless: Uint8Array;
  readonly #answers: Float64Array;
  readonly #sent: Float64Array;

  constructor(requests: readonly RingRequest[], signer: RequestSigner) {
    this.length = requests.length;
    this.#starts = new Uint32Array(this.length + 1);
    this.#tail = new Uint8Array(this.length);
    this.#bodiless = new Uint8Array(this.length);
    this.#answers = new Float64Array(this.length).fill(-1);
    this.#sent = new Float64Array(this.length);
    const leads: Buffer[] = [];
    let at = 0;
    for (const [index, request] of requests.entries()) {
      const lead = Buffer.from(signer.head(request) + (request.stamp ?? ''), 'latin1');
      leads.push(lead);
      this.#starts[index] = at;
      at += lead.length;
      this.#tail[index] = this.#tailNumber(request.tail);
      this.#bodiless[index] = request.method === 'HEAD' ? 1 : 0;
      this.#answers[index] = request.answers ?? -1;
      this.#sent[index] = request.length;
    }
    this.#starts[this.length] = at;
    this.bytes = Buffer.concat(leads, at);
  }

  start(index: number): number {
    return this.#starts[index] ?? 0;
  }

  end(index: number): number {
    return this.#starts[index + 1] ?? 0;
  }

  tail(index: number): Buffer {
    return this.#tails[this.#tail[index] ?? 0] ?? none;
  }

  isHead(index: number): boolean {
    return this.#bodiless[index] === 1;
  }

  /** The expected bytes of the answer's body; -1 accepts any number. */
  answers(index: number): number {
    return this.#answers[index] ?? -1;
  }

  bodyBytes(index: number): number {
    return this.#sent[index] ?? 0;
  }

  #tailNumber(tail: Buffer | undefined): number {
    if (tail === undefined) return 0;
    const known = this.#tails.indexOf(tail);
    if (known >= 0) return known;
    if (this.#tails.length === 256) throw new RangeError('a ring has at most 255 different bodies');
    return this.#tails.push(tail) - 1;
  }
}
