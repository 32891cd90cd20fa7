import { createHash } from 'node:crypto';
import { drive } from '../generator/drive.ts';
import { ask, askWell } from '../generator/ask.ts';
import { type Endpoint, RequestSigner } from '../generator/request-signer.ts';
import { RequestRing, type RingRequest } from '../generator/request-ring.ts';
import { bucket, type Round } from './load.ts';

/** The bytes at the start of each body that differ between objects. */
export const stampBytes = 16;

const MiB = 2 ** 20;
/** Noise that is equal in all runs, so that a later run can verify the objects of an earlier one. */
const noise = createHash('shake256', { outputLength: MiB }).update('coffer bench').digest();

/**
 * The bodies of one size: a stamp with the object's number, then bytes that all bodies share. So each object has its own contents without
 * memory of its own.
 */
export class Bodies {
  readonly size: number;
  readonly tail: Buffer;

  constructor(size: number) {
    if (size < stampBytes) throw new RangeError(`a body of ${size} bytes has no room for its stamp of ${stampBytes}`);
    this.size = size;
    this.tail = Buffer.alloc(size - stampBytes);
    // Each MiB is shifted by one byte, so that no two are equal.
    for (let at = 0, shift = 0; at < this.tail.length; at += MiB - shift, shift += 1) {
      noise.copy(this.tail, at, shift);
    }
  }

  stamp(number: number): string {
    return number.toString(16).padStart(stampBytes, '0');
  }

  matches(number: number, body: Buffer): boolean {
    return (
      body.length === this.size &&
      body.toString('latin1', 0, stampBytes) === this.stamp(number) &&
      this.tail.equals(body.subarray(stampBytes))
    );
  }

  sha256(number: number): string {
    return createHash('sha256').update(this.stamp(number)).update(this.tail).digest('hex');
  }
}

/** A size of objects, with the number of objects that loads use. */
export interface Size {
  readonly name: string;
  readonly bytes: number;
  /** The number of prepared objects for each second of PUT. No server here writes more. */
  readonly writtenPerSecond: number;
  /** The maximum number of objects in one round of PUT. The round may end with them before its time. */
  readonly written: number;
  /** The objects that GET and HEAD read. */
  readonly read: number;
  /** The objects that one round of DELETE removes. */
  readonly deleted: number;
}

export const sizes: readonly Size[] = [
  { name: '4KiB', bytes: 4_096, writtenPerSecond: 30_000, written: 150_000, read: 4_000, deleted: 10_000 },
  { name: '64KiB', bytes: 65_536, writtenPerSecond: 6_000, written: 20_000, read: 2_000, deleted: 4_000 },
  { name: '256KiB', bytes: 262_144, writtenPerSecond: 4_000, written: 8_000, read: 1_000, deleted: 2_000 },
  { name: '1MiB', bytes: 1_048_576, writtenPerSecond: 1_200, written: 2_400, read: 256, deleted: 512 },
  { name: '8MiB', bytes: 8_388_608, writtenPerSecond: 150, written: 512, read: 32, deleted: 128 },
];

/** Returns the number of objects for one round of PUT. */
export function writtenIn(size: Size, seconds: number): number {
  return Math.max(1, Math.min(size.written, Math.ceil(size.writtenPerSecond * seconds)));
}

const made = new Map<number, Bodies>();

export function bodiesOf(bytes: number): Bodies {
  const known = made.get(bytes) ?? new Bodies(bytes);
  made.set(bytes, known);
  return known;
}

const inFolder = 1_000;
const verified = 8;

/** Objects of one size below one prefix, a thousand for each folder. */
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

  /** Writes all objects, unless the last one exists. */
  async fill(round: Round): Promise<void> {
    const last = await ask(round.endpoint, this.#plain('HEAD', this.count - 1));
    if (last.status === 200) return;
    await sendAll(
      round.endpoint,
      this.all((number) => this.put(number)),
    );
  }

  /** Reads some of the first `count` objects and compares all bytes. */
  async verify(endpoint: Endpoint, count: number): Promise<void> {
    const step = Math.max(1, Math.floor(count / verified));
    for (let number = 0; number < count; number += step) {
      const { body } = await askWell(endpoint, this.#plain('GET', number));
      if (!this.bodies.matches(number, body)) throw new Error(`${this.key(number)} came back changed`);
    }
  }

  /** Throws when one of the first `count` objects still exists. It checks a sample. */
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

/** Signatures are valid for 15 minutes, so the requests are signed in batches. */
const signedAtOnce = 50_000;
const signaturesLiveMs = 840_000;

/** Sends each request once. A failure ends the benchmark. */
export async function sendAll(endpoint: Endpoint, requests: readonly RingRequest[], connections = 32): Promise<void> {
  for (let at = 0; at < requests.length; at += signedAtOnce) {
    await sendPiece(endpoint, requests.slice(at, at + signedAtOnce), connections);
  }
}

/** Writes this many times. If there are more writes than objects, it overwrites them in turn. */
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
