import { removeUnfinished, writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { AcceptanceStore } from '../../reconcile/identity-provider/accepted-providers.ts';
import type { StateFolder } from './state-folder.ts';
import { rm } from 'node:fs/promises';
import { acceptedRootName } from '../../reconcile/tenant/accepted-roots.ts';
import { type AcceptedRootStore } from '../../reconcile/reconciler-options.ts';

const file = 'accepted-providers.json';

/** `accepted-providers.json` of the state folder (0600): the accepted version of each provider, by its name. */
export class AcceptanceFile implements AcceptanceStore {
  readonly #state: StateFolder;
  readonly #kept: Map<string, unknown>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(state: StateFolder, kept: Map<string, unknown>) {
    this.#state = state;
    this.#kept = kept;
  }

  /** An unreadable file counts as missing: the providers are checked again. */
  static async open(state: StateFolder): Promise<AcceptanceFile> {
    await removeUnfinished(state.at(file), 0);
    const text = await state.readText(file);
    try {
      return new AcceptanceFile(state, new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, unknown>)));
    } catch {
      return new AcceptanceFile(state, new Map());
    }
  }

  load(): ReadonlyMap<string, string> {
    return new Map([...this.#kept].map(([name, kept]) => [name, JSON.stringify(kept)]));
  }

  async save(provider: string, text: string): Promise<void> {
    this.#kept.set(provider, JSON.parse(text));
    await this.#write();
  }

  async remove(provider: string): Promise<void> {
    if (this.#kept.delete(provider)) await this.#write();
  }

  /** Writes run one after the other, so that an older write cannot win. */
  #write(): Promise<void> {
    const next = this.#writing.then(() =>
      writeFileAtomically(this.#state.at(file), `${JSON.stringify(Object.fromEntries(this.#kept))}\n`),
    );
    this.#writing = next.catch(() => undefined);
    return next;
  }
}

/** `root-accepted/<name>.json` of the state folder (0600): the root credentials that a tenant's server accepts. */
export class AcceptedRootFiles implements AcceptedRootStore {
  readonly #state: StateFolder;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  /** An unreadable file counts as missing. */
  async load(tenant: string): Promise<Readonly<Record<string, string>> | undefined> {
    const text = await this.#state.readText('root-accepted', fileOf(tenant));
    try {
      return text === undefined ? undefined : (JSON.parse(text) as Readonly<Record<string, string>>);
    } catch {
      return undefined;
    }
  }

  async save(tenant: string, data: Readonly<Record<string, string>>): Promise<void> {
    this.#state.folder('root-accepted');
    const path = this.#state.at('root-accepted', fileOf(tenant));
    await removeUnfinished(path);
    await writeFileAtomically(path, `${JSON.stringify(data)}\n`);
  }

  async remove(tenant: string): Promise<void> {
    const path = this.#state.at('root-accepted', fileOf(tenant));
    await removeUnfinished(path, 0);
    await rm(path, { force: true });
  }
}

function fileOf(tenant: string): string {
  return `${acceptedRootName(tenant)}.json`;
}
