import type { ClusterRule } from '../../../contract/runtime.ts';
import type { Drift } from './drift.ts';

/** Milliseconds after which a change that comes again counts as a new one. */
const repeatMs = 3_600_000;
/** Milliseconds after which the API server is asked again: the rule may be gone. */
const admittedMs = 600_000;
/** The number of times that the operator reverts the same change before it leaves it. */
const maxRepairs = 2;

interface Admitted {
  /** Undefined where only an operator before this one asked. */
  readonly rendering: string | undefined;
  readonly paths: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface Repairs {
  readonly count: number;
  /** Milliseconds since the epoch of the last one. */
  readonly at: number;
}

/**
 * Remembers what the cluster makes of the objects that the operator sends: what an admission policy changes in them, and what another controller
 * changes again after the operator put it back. Both are rules of the cluster, against which a repair would go on for ever.
 */
export class ClusterRules {
  readonly #now: () => number;
  /** By object: what came back for a rendering. */
  readonly #admitted = new Map<string, Admitted>();
  /** By object and change: two changes that come in turn are counted apart. */
  readonly #repairs = new Map<string, Repairs>();
  readonly #left = new Map<string, { readonly managers: readonly string[]; readonly paths: readonly string[] }>();

  constructor(now: () => Date) {
    this.#now = () => now().getTime();
  }

  /** Reports whether the API server answered a rendering with exactly these differences, a short time ago. */
  admits(object: string, rendering: string, paths: readonly string[]): boolean {
    const known = this.#admitted.get(object);
    if (known === undefined || known.rendering !== rendering || this.#now() - known.at > admittedMs) return false;
    return known.paths.length === paths.length && paths.every((path) => known.paths.includes(path));
  }

  /** Reports whether the cluster made these differences before: when its rule is gone, they are still no change by hand. */
  admitted(object: string, paths: readonly string[]): boolean {
    const known = this.admittedPaths(object);
    return paths.every((path) => known.includes(path));
  }

  /** Takes over what an operator before this one recorded of an object. The API server is asked again whether it is so still. */
  adoptAdmitted(object: string, paths: readonly string[]): void {
    if (!this.#admitted.has(object)) this.#admitted.set(object, { rendering: undefined, paths, at: 0 });
  }

  /** Returns the differences that the cluster made last. */
  admittedPaths(object: string): readonly string[] {
    return this.#admitted.get(object)?.paths ?? [];
  }

  /** Records how the answer of the API server differs from what was sent. */
  recordAdmitted(object: string, rendering: string, paths: readonly string[]): void {
    this.#admitted.set(object, { rendering, paths, at: this.#now() });
  }

  forgetAdmitted(object: string): void {
    this.#admitted.delete(object);
  }

  /** Decides what becomes of a change by another manager. */
  decide(object: string, drift: Drift): 'repair' | 'repair again' | 'leave' {
    const count = this.#repairsOf(object, drift);
    if (count === 0) return 'repair';
    return count >= maxRepairs ? 'leave' : 'repair again';
  }

  recordRepair(object: string, drift: Drift): void {
    this.#record(object, drift, this.#repairsOf(object, drift) + 1);
  }

  recordLeft(object: string, drift: Drift): void {
    this.#left.set(object, { managers: drift.managers, paths: drift.paths });
    // While it is left, it is the same change.
    this.#record(object, drift, this.#repairsOf(object, drift));
  }

  #repairsOf(object: string, drift: Drift): number {
    const before = this.#repairs.get(changeOf(object, drift));
    return before === undefined || this.#now() - before.at > repeatMs ? 0 : before.count;
  }

  #record(object: string, drift: Drift, count: number): void {
    for (const [change, { at }] of this.#repairs) if (this.#now() - at > repeatMs) this.#repairs.delete(change);
    this.#repairs.set(changeOf(object, drift), { count, at: this.#now() });
  }

  forgetLeft(object: string): void {
    this.#left.delete(object);
  }

  /** Returns the rules that changed these objects (`StatefulSet/demo-server`). */
  of(objects: readonly string[]): readonly ClusterRule[] {
    return objects.flatMap((object): readonly ClusterRule[] => {
      const name = object.replace('/', ' ');
      const admitted = this.admittedPaths(object);
      const left = this.#left.get(object);
      return [
        ...(admitted.length === 0 ? [] : [{ object: name, managers: [], paths: admitted }]),
        ...(left === undefined ? [] : [{ object: name, ...left }]),
      ];
    });
  }
}

function changeOf(object: string, { managers, paths }: Drift): string {
  return JSON.stringify([object, managers.toSorted(), paths.toSorted()]);
}
