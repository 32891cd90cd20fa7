/** The part of the browser's storage that drafts need. */
export type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

interface StoredDraft {
  readonly owner: string;
  readonly build: string;
  readonly value: unknown;
}

const prefix = 'coffer-draft ';

/**
 * Drafts of one user in one tab of the browser. Another user must not see them, and another build of the console may expect another form of
 * the value, so that neither gets them.
 */
export class Drafts {
  readonly #store: DraftStore | undefined;
  readonly #build: string;
  #owner = '';

  /** @param store - undefined where the browser forbids it */
  constructor(store: DraftStore | undefined, build: string) {
    this.#store = store;
    this.#build = build;
  }

  /** Removes the drafts of all other users. */
  belongTo(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#removeIf((draft) => draft?.owner !== owner);
  }

  clear(): void {
    this.#removeIf(() => true);
  }

  /** Returns undefined if there is no draft. */
  read(name: string): { readonly value: unknown } | undefined {
    const draft = parse(this.#store?.getItem(prefix + name));
    return draft?.owner === this.#owner && draft.build === this.#build ? draft : undefined;
  }

  write(name: string, value: unknown): void {
    const draft: StoredDraft = { owner: this.#owner, build: this.#build, value };
    try {
      this.#store?.setItem(prefix + name, JSON.stringify(draft));
    } catch {
      // The storage is full. The draft is in the page only.
      this.remove(name);
    }
  }

  remove(name: string): void {
    this.#store?.removeItem(prefix + name);
  }

  #removeIf(matches: (draft: StoredDraft | undefined) => boolean): void {
    const store = this.#store;
    if (store === undefined) return;
    const names = Array.from({ length: store.length }, (_, index) => store.key(index) ?? '');
    for (const name of names) {
      if (name.startsWith(prefix) && matches(parse(store.getItem(name)))) store.removeItem(name);
    }
  }
}

function parse(text: string | null | undefined): StoredDraft | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text) as StoredDraft;
  } catch {
    return undefined;
  }
}

/** Returns the storage of the tab; undefined where the browser forbids it. */
function storageOfTheTab(): DraftStore | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}

/** The name of the first script changes with each build. */
const build = typeof document === 'undefined' ? '' : (document.querySelector('script')?.src ?? '');

/** The drafts of this tab. */
export const drafts = new Drafts(typeof document === 'undefined' ? undefined : storageOfTheTab(), build);
