import type { Bodies } from '../generator/body.ts';
import { drive } from '../generator/drive.ts';
import { ask, askWell } from '../generator/ask.ts';
import type { Endpoint } from '../generator/endpoint.ts';
import { RequestRing, type RingRequest } from '../generator/request-ring.ts';
import { RequestSigner } from '../generator/request-signer.ts';
import { bucket, type Round } from './load.ts';

const inFolder = 1_000;
const verified = 8;

/** Objects of one size under one prefix, a thousand in each folder. */
export class Objects {
  readonly prefix: string;
  readonly count: number;
  readonly bodies: Bodies;

  constructor(prefix: string, count: number, bodies: Bodies) {
    this.prefix = prefix;
    this.count = count;
    this.bodies = bodies;
  }

  key(number: number): string {
    return `${this.prefix}/${padded(Math.floor(number / inFolder))}/${padded(number % inFolder)}`;
  }

  put(number: number, signPayload = false): RingRequest {
    return {
      method: 'PUT',
      path: `/${bucket}/${this.key(number)}`,
      query: '',
      length: this.bodies.size,
      stamp: this.bodies.stamp(number),
      tail: this.bodies.tail,
      ...(signPayload ? { payloadHash: this.bodies.sha256(number) } : {}),
    };
  }

  get(number: number): RingRequest {
    return { ...this.#plain('GET', number), answers: this.bodies.size };
  }

  head(number: number): RingRequest {
    return { ...this.#plain('HEAD', number), answers: this.bodies.size };
  }

  delete(number: number): RingRequest {
    return this.#plain('DELETE', number);
  }

  all(make: (number: number) => RingRequest): RingRequest[] {
    return Array.from({ length: this.count }, (_, number) => make(number));
  }

  /** Writes them all, unless the last one is there already. */
  async fill(round: Round): Promise<void> {
    const last = await ask(round.endpoint, this.#plain('HEAD', this.count - 1));
    if (last.status === 200) return;
    await sendAll(
      round.endpoint,
      this.all((number) => this.put(number)),
    );
  }

  /** Reads some of the first `count` and compares every byte. */
  async verify(endpoint: Endpoint, count: number): Promise<void> {
    const step = Math.max(1, Math.floor(count / verified));
    for (let number = 0; number < count; number += step) {
      const { body } = await askWell(endpoint, this.#plain('GET', number));
      if (!this.bodies.matches(number, body)) throw new Error(`${this.key(number)} came back changed`);
    }
  }

  /** Throws where one of the first `count` is still there; looks at some. */
  async verifyGone(endpoint: Endpoint, count: number): Promise<void> {
    const step = Math.max(1, Math.floor(count / verified));
    for (let number = 0; number < count; number += step) {
      const { status } = await ask(endpoint, this.#plain('HEAD', number));
      if (status !== 404) throw new Error(`${this.key(number)} was deleted and HEAD answers ${status}`);
    }
  }

  async clear(endpoint: Endpoint, from: number, to: number): Promise<void> {
    await sendAll(
      endpoint,
      Array.from({ length: to - from }, (_, at) => this.delete(from + at)),
    );
  }

  #plain(method: 'GET' | 'HEAD' | 'DELETE', number: number): RingRequest {
    return { method, path: `/${bucket}/${this.key(number)}`, query: '', length: 0 };
  }
}

/** Signatures are valid for 15 minutes: a large number of requests is signed in pieces. */
const signedAtOnce = 50_000;
const signaturesLiveMs = 840_000;

/** Sends each request once; any failure ends the benchmark. */
export async function sendAll(endpoint: Endpoint, requests: readonly RingRequest[], connections = 32): Promise<void> {
  for (let at = 0; at < requests.length; at += signedAtOnce) {
    await sendPiece(endpoint, requests.slice(at, at + signedAtOnce), connections);
  }
}

/** Writes so many times, over the same objects again and again where there are more writes than objects. */
export async function writeOver(
  endpoint: Endpoint,
  objects: Objects,
  writes: number,
  connections: number,
): Promise<void> {
  for (let at = 0; at < writes; at += signedAtOnce) {
    const length = Math.min(signedAtOnce, writes - at);
    const requests = Array.from({ length }, (_, next) => objects.put((at + next) % objects.count));
    await sendPiece(endpoint, requests, connections);
  }
}

async function sendPiece(endpoint: Endpoint, requests: readonly RingRequest[], connections: number): Promise<void> {
  const ring = new RequestRing(requests, new RequestSigner(endpoint, new Date()));
  const done = await drive({ address: endpoint, ring, connections, milliseconds: signaturesLiveMs, repeat: false });
  if (done.failures.size > 0) throw new Error(`filling or clearing failed: ${describeFailures(done.failures)}`);
  if (done.operations < ring.length) throw new Error('filling or clearing took longer than its signatures live');
}

export function describeFailures(failures: ReadonlyMap<string, number>): string {
  return [...failures].map(([what, count]) => `${count} x ${what}`).join(', ');
}

function padded(number: number): string {
  return String(number).padStart(4, '0');
}
