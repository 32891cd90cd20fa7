/** What the API server understood of a request, for faults and counts. */
export interface ApiRequest {
  readonly verb: Verb;
  /** `pods`, `statefulsets.apps`, `tenants.coffer.dev`, `pods/eviction`, `tenants.coffer.dev/status`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection';

type Fault =
  /** A Status object instead of the answer; nothing is done. */
  | { readonly kind: 'status'; readonly status: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** The connection is reset before anything is done. */
  | { readonly kind: 'reset' }
  /** Everything is done, and the connection cut instead of the answer. */
  | { readonly kind: 'lost-answer' }
  /** Of a watch: an ERROR event as its first, then the end. */
  | { readonly kind: 'error-event'; readonly status: number; readonly reason: string };

const writes: ReadonlySet<Verb> = new Set(['create', 'update', 'patch', 'apply', 'delete', 'deletecollection']);

function isWrite(verb: Verb): boolean {
  return writes.has(verb);
}

/** Faults that a test switches on. A counted one is used up by the requests that it hits, the first that matches first. */
export class Faults {
  /** Every byte of every watch is a chunk of its own, so that UTF-8 letters are cut. */
  splitChunks = false;
  readonly #planned: { readonly matches: (request: ApiRequest) => boolean; left: number; readonly fault: Fault }[] = [];
  readonly #listeners = new Set<() => void>();
  #silent = false;
  #held = false;

  /** The next `times` requests that match fail. */
  plan(times: number, matches: (request: ApiRequest) => boolean, fault: Fault): void {
    this.#planned.push({ matches, left: times, fault });
  }

  conflict(times: number): void {
    this.plan(times, ({ verb }) => isWrite(verb), { kind: 'status', status: 409, reason: 'Conflict' });
  }

  tooManyRequests(times: number, retryAfterSeconds = 1): void {
    this.plan(times, () => true, { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds });
  }

  internalError(times: number): void {
    this.plan(times, () => true, { kind: 'status', status: 500, reason: 'InternalError' });
  }

  reset(times: number): void {
    this.plan(times, () => true, { kind: 'reset' });
  }

  /** The next `times` writes happen, and their answers never come. */
  loseAnswers(times: number): void {
    this.plan(times, ({ verb }) => isWrite(verb), { kind: 'lost-answer' });
  }

  /** 410 Expired: by HTTP status for `list` and `watch`, inside the stream for `watch-event`. */
  gone(what: 'list' | 'watch' | 'watch-event', times: number): void {
    if (what === 'watch-event')
      this.plan(times, ({ verb }) => verb === 'watch', { kind: 'error-event', status: 410, reason: 'Expired' });
    else this.plan(times, ({ verb }) => verb === what, { kind: 'status', status: 410, reason: 'Expired' });
  }

  /** Open watches go silent for ever, without their end; those opened while it is set too. */
  get silentWatches(): boolean {
    return this.#silent;
  }

  set silentWatches(silent: boolean) {
    this.#silent = silent;
    this.#tell();
  }

  /** Watches lag: nothing is sent while it is set, everything afterwards, so that a cache is stale meanwhile. */
  get heldWatches(): boolean {
    return this.#held;
  }

  set heldWatches(held: boolean) {
    this.#held = held;
    this.#tell();
  }

  /** Planned faults that no request has used up. */
  get left(): number {
    return this.#planned.reduce((sum, { left }) => sum + left, 0);
  }

  /** The fault of this request, if any, which is used up. */
  take(request: ApiRequest): Fault | undefined {
    const planned = this.#planned.find(({ left, matches }) => left > 0 && matches(request));
    if (planned === undefined) return undefined;
    planned.left -= 1;
    if (planned.left === 0) this.#planned.splice(this.#planned.indexOf(planned), 1);
    return planned.fault;
  }

  /** Calls when `silentWatches` or `heldWatches` was set. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Requests as they came in, to prove that nothing is asked or written when nothing changed. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();
  /** The latest writes, for messages of failed tests. */
  readonly lastWrites: string[] = [];

  add({ verb, resource, namespace, name }: ApiRequest): void {
    const key = `${verb} ${resource}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (!isWrite(verb) || key.includes('leases.')) return;
    this.lastWrites.push(`${key} ${namespace ?? ''}/${name ?? ''}`);
    if (this.lastWrites.length > 50) this.lastWrites.shift();
  }

  /** By `VERB RESOURCE`: `apply statefulsets.apps`, `watch pods`. */
  get byKind(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Of one verb, and of one resource where it is given. */
  of(verb: ApiRequest['verb'], resource?: string): number {
    if (resource !== undefined) return this.#counts.get(`${verb} ${resource}`) ?? 0;
    return this.#sum((key) => key.startsWith(`${verb} `));
  }

  /** All that change something. Leases of leader election are left out: they are written by time, not by change. */
  get writes(): number {
    return this.#sum((key) => isWrite(key.split(' ')[0] as ApiRequest['verb']) && !key.includes('leases.'));
  }

  /** All but watches, and but those of leader election. */
  get requests(): number {
    return this.#sum((key) => !key.startsWith('watch ') && !key.includes('leases.'));
  }

  reset(): void {
    this.#counts.clear();
    this.lastWrites.length = 0;
  }

  #sum(counts: (key: string) => boolean): number {
    return [...this.#counts].reduce((sum, [key, count]) => (counts(key) ? sum + count : sum), 0);
  }
}
