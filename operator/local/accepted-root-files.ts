import { rm } from 'node:fs/promises';
import { writeFileAtomically } from '../../platform/atomic-file.ts';
import { acceptedRootName, type AcceptedRootStore } from '../reconcile/accepted-roots.ts';
import type { StateFolder } from './state-folder.ts';

/** `root-accepted/<name>.json` of the state folder (0600): the root credentials that a tenant's server takes. */
export class AcceptedRootFiles implements AcceptedRootStore {
  readonly #state: StateFolder;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  /** A file that cannot be read back is as good as none. */
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
    await writeFileAtomically(this.#state.at('root-accepted', fileOf(tenant)), `${JSON.stringify(data)}\n`);
  }

  async remove(tenant: string): Promise<void> {
    await rm(this.#state.at('root-accepted', fileOf(tenant)), { force: true });
  }
}

function fileOf(tenant: string): string {
  return `${acceptedRootName(tenant)}.json`;
}
