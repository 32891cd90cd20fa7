import { ApiError, type ApiObject } from './api-object.ts';
import type { ServerResponse } from 'node:http';
import type { Faults } from './faults.ts';
import type { Change, ObjectStore } from './object-store.ts';

interface Page {
  readonly items: readonly ApiObject[];
  readonly version: number;
  readonly continue: string | undefined;
  readonly remaining: number;
}

/** Lists in pages, all of the same moment. A token is good until `expire`, or until a hundred later lists. */
export class ListPages {
  readonly #snapshots = new Map<string, { readonly items: readonly ApiObject[]; readonly version: number }>();
  #next = 1;

  first(items: readonly ApiObject[], version: number, limit: number | undefined): Page {
    if (limit === undefined || limit === 0 || items.length <= limit) {
      return { items, version, continue: undefined, remaining: 0 };
    }
    const id = String(this.#next++);
    this.#snapshots.set(id, { items, version });
    const oldest = this.#snapshots.keys().next().value;
    if (this.#snapshots.size > 100 && oldest !== undefined) this.#snapshots.delete(oldest);
    return this.#page(id, 0, limit);
  }

  next(token: string, limit: number): Page {
    const [id = '', from = ''] = Buffer.from(token, 'base64url').toString().split(':');
    return this.#page(id, Number(from), limit);
  }

  expire(): void {
    this.#snapshots.clear();
  }

  #page(id: string, from: number, limit: number): Page {
    const snapshot = this.#snapshots.get(id);
    if (snapshot === undefined) throw ApiError.expired('The provided continue parameter is too old');
    const { items, version } = snapshot;
    const to = from + limit;
    const more = to < items.length;
    return {
      items: items.slice(from, to),
      version,
      continue: more ? Buffer.from(`${id}:${to}`).toString('base64url') : undefined,
      remaining: Math.max(0, items.length - to),
    };
  }
}

interface WatchRequest {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly selects: (object: ApiObject) => boolean;
  /** Undefined: begin with all that exist. */
  readonly since: number | undefined;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

/** One open watch. Everything it sends is a chunk of its own, or each byte where the faults say so. */
export class WatchStream {
  readonly #response: ServerResponse;
  readonly #request: WatchRequest;
  readonly #faults: Faults;
  readonly #store: ObjectStore;
  readonly #ends: (() => void)[] = [];
  #held: string[] = [];
  /** Silent for ever: it was open when watches went silent. */
  #dead = false;

  constructor(response: ServerResponse, request: WatchRequest, store: ObjectStore, faults: Faults) {
    this.#response = response;
    this.#request = request;
    this.#store = store;
    this.#faults = faults;
  }

  /** Errors with 410 before anything is sent where the changes since then are no longer known. */
  start(bookmarkMs: number): void {
    const { resource, namespace, since, timeoutMs } = this.#request;
    const earlier = since === undefined ? [] : this.#store.since(resource, since);
    this.#response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    this.#response.flushHeaders();
    this.#dead = this.#faults.silentWatches;
    if (since === undefined) {
      for (const object of this.#store.list(resource, namespace)) {
        if (this.#request.selects(object)) this.#send('ADDED', object);
      }
    }
    for (const change of earlier) this.#see(change);
    this.#ends.push(
      this.#store.onChange((change) => {
        if (change.resource === resource) this.#see(change);
      }),
      this.#faults.onChange(() => this.#faultsChanged()),
    );
    const bookmarks = setInterval(() => this.#bookmark(), bookmarkMs);
    const timeout = setTimeout(() => {
      if (this.#dead) return;
      this.#bookmark();
      this.#response.end();
    }, timeoutMs);
    this.#ends.push(() => {
      clearInterval(bookmarks);
      clearTimeout(timeout);
    });
    this.#response.once('close', () => {
      for (const end of this.#ends) end();
    });
  }

  /** An ERROR event, and the end. */
  static fail(response: ServerResponse, status: number, reason: string): void {
    const error = new ApiError(status, reason, 'a fault of the test');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ type: 'ERROR', object: error.status })}\n`);
  }

  #see({ before, after, shown }: Change): void {
    const { namespace, selects } = this.#request;
    if (namespace !== undefined && shown.metadata.namespace !== namespace) return;
    const was = before !== undefined && selects(before);
    const is = after !== undefined && selects(after);
    if (is) this.#send(was ? 'MODIFIED' : 'ADDED', shown);
    else if (was) {
      const { resourceVersion } = shown.metadata;
      this.#send('DELETED', { ...before, metadata: { ...before.metadata, resourceVersion } });
    }
  }

  #bookmark(): void {
    if (!this.#request.bookmarks || this.#faults.heldWatches) return;
    const { apiVersion, kind } = this.#request;
    this.#write(
      `{"type":"BOOKMARK","object":${JSON.stringify({ apiVersion, kind, metadata: { resourceVersion: String(this.#store.version), creationTimestamp: null } })}}\n`,
    );
  }

  #send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject): void {
    this.#write(`{"type":"${type}","object":${textOf(object)}}\n`);
  }

  #write(line: string): void {
    if (this.#dead) return;
    if (this.#faults.heldWatches) {
      this.#held.push(line);
    } else if (this.#faults.splitChunks) {
      for (const byte of Buffer.from(line)) this.#response.write(Buffer.of(byte));
    } else this.#response.write(line);
  }

  #faultsChanged(): void {
    if (this.#faults.silentWatches) this.#dead = true;
    if (this.#faults.heldWatches) return;
    const late = this.#held;
    this.#held = [];
    for (const line of late) this.#write(line);
  }
}

const texts = new WeakMap<ApiObject, string>();

/** As JSON, made once for all watches. */
export function textOf(object: ApiObject): string {
  let text = texts.get(object);
  if (text === undefined) texts.set(object, (text = JSON.stringify(object)));
  return text;
}
