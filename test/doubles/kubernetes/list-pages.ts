import { ApiError } from './api-error.ts';
import type { ApiObject } from './api-object.ts';

export interface Page {
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
