import { randomBytes } from 'node:crypto';
import { commitOnce, isReadOnly } from './commits.ts';
import {
  decodeDeployment,
  deploymentKey,
  type DeploymentRecord,
  encodeDeployment,
  NEWEST_FORMAT,
} from './deployment.ts';
import type { RecordStore } from './record-store.ts';

/** The format of object records before the first switch. */
const OLDER_FORMAT = 3;

/** Knows which format of object records servers write. It only rises, so that a thread asks until it has read the newest. */
export class WrittenFormat {
  readonly #records: Pick<RecordStore, 'get'>;
  #isNewest = false;

  constructor(records: Pick<RecordStore, 'get'>) {
    this.#records = records;
  }

  /** Reports if a record may have what a server of the format before cannot read. */
  isNewest(): boolean | Promise<boolean> {
    return this.#isNewest || this.#read();
  }

  async #read(): Promise<boolean> {
    const entry = await this.#records.get(deploymentKey);
    this.#isNewest = entry !== undefined && isSwitched(decodeDeployment(entry.value, 'this store'));
    return this.#isNewest;
  }
}

function isSwitched({ writes = OLDER_FORMAT }: DeploymentRecord): boolean {
  return writes >= NEWEST_FORMAT;
}

/** A server of the deployment. */
interface Member {
  /** `HOST:PORT`. */
  readonly endpoint: string;
  /** The newest format of object records that the server reads and is allowed to write. Absent for servers before format 4. */
  readonly format?: number | undefined;
}

interface FormatSwitchOptions {
  readonly records: Pick<RecordStore, 'get' | 'commit' | 'outcome'>;
  /** The servers, this one included, and those that were killed and may be back. */
  readonly members: () => readonly Member[];
  /** Milliseconds from the refusal of older servers to the last look for one. 0 for a server that shares its records with none. */
  readonly waitMs: number;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
  readonly random?: (size: number) => Buffer;
}

/** What keeps a deployment in the format before, or the end of the switch. */
export type SwitchState =
  | { readonly kind: 'waits' }
  /** `by` has the servers that do not read the newest format, or are told to stay with the one before. */
  | { readonly kind: 'done' | 'held'; readonly by: readonly string[] };

/**
 * Switches a deployment to the newest format. First the record of the deployment keeps older servers out, and some seconds later, if none is
 * left, it lets all servers write the format. Each step may be repeated, also by another server and after a kill.
 */
export class FormatSwitch {
  readonly #options: FormatSwitchOptions;
  /** When this server first knew that no older server can start. */
  #refusedSince: number | undefined;
  #isDone = false;

  constructor(options: FormatSwitchOptions) {
    this.#options = options;
  }

  /** Returns the state of the switch, which another server makes. */
  async look(): Promise<SwitchState> {
    const state = await this.#look();
    return state.kind === 'free' ? { kind: 'waits' } : state;
  }

  /** Call it every few seconds until it is done. Only one server needs to. */
  async step(): Promise<SwitchState> {
    const { clock, waitMs } = this.#options;
    const state = await this.#look();
    if (state.kind !== 'free') {
      if (state.kind === 'held') this.#refusedSince = undefined;
      return state;
    }
    const { found, revision } = state;
    if (waitMs > 0 && found.format < NEWEST_FORMAT) {
      await this.#write(revision, { ...found, format: NEWEST_FORMAT });
      return { kind: 'waits' };
    }
    this.#refusedSince ??= clock();
    if (clock() - this.#refusedSince < waitMs) return { kind: 'waits' };
    const written = await this.#write(revision, { ...found, format: NEWEST_FORMAT, writes: NEWEST_FORMAT });
    return written ? { kind: 'done', by: [] } : { kind: 'waits' };
  }

  async #look(): Promise<
    SwitchState | { readonly kind: 'free'; readonly found: DeploymentRecord; readonly revision: number }
  > {
    const { records } = this.#options;
    // An older server that was away for long may be back. It could read nothing that was written since.
    if (this.#isDone) return { kind: 'done', by: this.#olderServers() };
    const entry = await records.get(deploymentKey);
    if (entry === undefined) return { kind: 'waits' };
    const found = decodeDeployment(entry.value, 'this store');
    const by = this.#olderServers();
    this.#isDone = isSwitched(found);
    if (this.#isDone) return { kind: 'done', by };
    // A copy reads the records meanwhile, and compares them with the target.
    if (await isReadOnly(records)) return { kind: 'waits' };
    return by.length > 0 ? { kind: 'held', by } : { kind: 'free', found, revision: entry.revision };
  }

  #olderServers(): readonly string[] {
    return this.#options
      .members()
      .filter(({ format = OLDER_FORMAT }) => format < NEWEST_FORMAT)
      .map(({ endpoint }) => endpoint);
  }

  /** Resolves with false after a conflict: the next step reads again. */
  async #write(revision: number, record: DeploymentRecord): Promise<boolean> {
    const { records, random = randomBytes } = this.#options;
    const outcome = await commitOnce(
      records,
      {
        expect: [{ kind: 'revision', key: deploymentKey, revision }],
        put: [{ key: deploymentKey, value: encodeDeployment(record) }],
      },
      random,
    );
    return outcome.kind === 'committed';
  }
}
