import { isWrite } from './faults.ts';
import type { ApiRequest } from './faults.ts';

/** Requests as they came in, to prove that nothing is asked or written when nothing changed. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();
  /** The latest writes, for messages of failed tests. */
  readonly lastWrites: string[] = [];

  add({ verb, resource, namespace, name }: ApiRequest): void {
    const key = `${verb} ${resource}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (!isWrite(verb)) return;
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
