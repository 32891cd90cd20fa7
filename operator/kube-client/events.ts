import { randomBytes } from 'node:crypto';
import { redactText } from '../../platform/output/redact-secrets.ts';
import { isNotFound, type KubeApi, type KubeObject } from './kube-api.ts';
import { microTime } from './lease-record.ts';
import { resourceTypes } from './resource-types.ts';

export interface KubeEvent {
  /** The object that the event describes. The event is made in its namespace. */
  readonly regarding: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** The action under way; `Reconcile` by default. */
  readonly action?: string;
  readonly message: string;
}

interface EventRecorderOptions {
  readonly api: Pick<KubeApi, 'create' | 'patch'>;
  readonly now: () => Date;
  /** The pod of the operator. */
  readonly instance: string;
  /** Called when an event was not written. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds in which the same event counts up a series instead of becoming a new event. */
const sameEventMs = 10 * 60_000;

/** Events that one object may have at once; each `refillMs` allows one more. Repeated events must not fill etcd. */
const burst = 25;
const refillMs = 60_000;

/** Writes that may wait. While the API server is unreachable, later events are dropped. */
const maxQueued = 1_000;

/** Bytes; the API server refuses longer notes. */
const maxNoteLength = 1_024;

interface Known {
  readonly name: string;
  count: number;
  /** Milliseconds since the epoch. */
  lastAt: number;
  /** The write of an earlier event still waits. It will carry the current count. */
  waiting: boolean;
}

interface Allowance {
  left: number;
  at: number;
}

/**
 * Writes Events one after the other. The same event within ten minutes counts up a series.
 *
 * events.k8s.io/v1, since its series are the server's own notion of aggregation; `kubectl describe` and `kubectl events` show them
 * like those of core/v1, which are the same objects.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #known = new Map<string, Known>();
  readonly #allowances = new Map<string, Allowance>();
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #forgotAt = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Never errors and never waits. */
  record(event: KubeEvent): void {
    const at = this.#options.now().getTime();
    this.#forget(at);
    const key = eventKey(event);
    const known = this.#known.get(key);
    if (known !== undefined && at - known.lastAt < sameEventMs) {
      known.count += 1;
      known.lastAt = at;
      if (!known.waiting) this.#enqueue(known, () => this.#countUp(event, known));
      return;
    }
    if (!this.#allows(objectKey(event), at)) return;
    const name = `${event.regarding.metadata.name.slice(0, 230)}.${randomBytes(8).toString('hex')}`;
    const made: Known = { name, count: 1, lastAt: at, waiting: false };
    this.#known.set(key, made);
    this.#enqueue(made, () => this.#create(event, made));
  }

  /** Resolves when all recorded events are written or have failed. */
  flush(): Promise<void> {
    return this.#last;
  }

  #enqueue(known: Known, write: () => Promise<unknown>): void {
    if (this.#waiting >= maxQueued) return;
    this.#waiting += 1;
    known.waiting = true;
    this.#last = this.#writeAfter(this.#last, known, write);
  }

  async #writeAfter(before: Promise<void>, known: Known, write: () => Promise<unknown>): Promise<void> {
    await before;
    this.#waiting -= 1;
    known.waiting = false;
    try {
      await write();
    } catch (error) {
      this.#options.failed(error);
    }
  }

  async #countUp(event: KubeEvent, known: Known): Promise<void> {
    const series = { count: known.count, lastObservedTime: microTime(new Date(known.lastAt)) };
    try {
      await this.#options.api.patch(resourceTypes.event, event.regarding.metadata.namespace, known.name, { series });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The creation of the event failed, or the event was deleted.
      await this.#create(event, known);
    }
  }

  async #create(event: KubeEvent, known: Known): Promise<void> {
    const { api, instance } = this.#options;
    const { apiVersion, kind, metadata } = event.regarding;
    const time = microTime(new Date(known.lastAt));
    await api.create({
      apiVersion: resourceTypes.event.apiVersion,
      kind: resourceTypes.event.kind,
      metadata: { name: known.name, namespace: metadata.namespace ?? 'default' },
      eventTime: time,
      type: event.type,
      reason: event.reason,
      action: event.action ?? 'Reconcile',
      note: shortened(redactText(event.message)),
      reportingController: 'coffer.dev/operator',
      reportingInstance: instance.slice(0, 128),
      regarding: {
        apiVersion,
        kind,
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
      },
      ...(known.count > 1 ? { series: { count: known.count, lastObservedTime: time } } : {}),
    });
  }

  #allows(object: string, at: number): boolean {
    const known = this.#allowances.get(object) ?? { left: burst, at };
    const refilled = Math.floor((at - known.at) / refillMs);
    const left = Math.min(burst, known.left + refilled);
    this.#allowances.set(object, { left: Math.max(0, left - 1), at: known.at + refilled * refillMs });
    return left > 0;
  }

  #forget(at: number): void {
    if (at - this.#forgotAt < refillMs) return;
    this.#forgotAt = at;
    for (const [key, { lastAt }] of this.#known) if (at - lastAt >= sameEventMs) this.#known.delete(key);
    for (const [key, allowance] of this.#allowances) {
      if (at - allowance.at >= burst * refillMs) this.#allowances.delete(key);
    }
  }
}

function objectKey({ regarding }: KubeEvent): string {
  return [regarding.kind, regarding.metadata.namespace, regarding.metadata.name, regarding.metadata.uid].join('/');
}

function eventKey(event: KubeEvent): string {
  return JSON.stringify([objectKey(event), event.type, event.reason, event.message]);
}

/** Cuts to a number of bytes, never in the middle of a character. */
function shortened(message: string): string {
  if (Buffer.byteLength(message) <= maxNoteLength) return message;
  let text = message.slice(0, maxNoteLength);
  while (Buffer.byteLength(text) > maxNoteLength - 3) text = text.slice(0, -1);
  return `${text.toWellFormed()}…`;
}
