import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { isTemporaryName, writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { apiVersion, type CofferObject } from '../../api/object.ts';
import { validate } from '../../api/validate.ts';
import { mergeConditions, notReady, type ResourceStatus } from '../../reconcile/conditions.ts';
import type { OperatorEvent, StatusStore } from '../../reconcile/reconciler-options.ts';
import { canonical } from '../../render/restart-inputs.ts';
import type { ResourceRef } from '../../contract/workload.ts';
import type { StateFolder } from './state-folder.ts';

interface RecordedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
}

interface Entry {
  generation: number;
  object: CofferObject | undefined;
  status: ResourceStatus | undefined;
  events: readonly RecordedEvent[];
}

const keptEvents = 30;

/** Writes `status/<kind>-<name>.yaml`: each object as `kubectl get -o yaml` would show it, with its latest events. */
export class StatusFiles implements StatusStore {
  readonly #state: StateFolder;
  readonly #now: () => Date;
  readonly #entries = new Map<string, Entry>();
  #writing: Promise<void> = Promise.resolve();

  constructor(state: StateFolder, now: () => Date) {
    this.#state = state;
    this.#now = now;
    for (const file of readdirSync(state.folder('status'))) {
      // An operator that was killed left it, and this one holds the lock of the folder.
      if (isTemporaryName(file)) rmSync(state.at('status', file), { force: true });
      else if (file.endsWith('.yaml')) this.#load(file);
    }
  }

  /** Objects at the last write. */
  objects(): readonly CofferObject[] {
    return [...this.#entries.values()].flatMap(({ object }) => object ?? []);
  }

  /** Takes the current objects: a generation grows when its spec changed, and the file of a removed object is deleted. */
  observe(objects: readonly CofferObject[], named: ReadonlySet<string>): void {
    for (const object of objects) {
      const entry = this.#entry({ kind: object.kind, name: object.metadata.name });
      if (entry.object === undefined || canonical(entry.object.spec) !== canonical(object.spec)) entry.generation += 1;
      entry.object = object;
    }
    const present = new Set([...objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`), ...named]);
    for (const key of [...this.#entries.keys()].filter((key) => !present.has(key))) {
      this.#entries.delete(key);
      rmSync(this.#path(key), { force: true });
    }
  }

  generation(ref: ResourceRef): number {
    return this.#entry(ref).generation;
  }

  get(ref: ResourceRef): ResourceStatus | undefined {
    return this.#entry(ref).status;
  }

  async put(ref: ResourceRef, status: ResourceStatus): Promise<void> {
    const entry = this.#entry(ref);
    if (canonical(entry.status) === canonical(status)) return;
    entry.status = status;
    await this.#save(ref);
  }

  /** Adds an event, or counts up the same one. */
  async record({ ref, type, reason, message }: OperatorEvent): Promise<void> {
    const entry = this.#entry(ref);
    const now = this.#now().toISOString();
    const same = entry.events.find((event) => event.reason === reason && event.message === message);
    const event = {
      type,
      reason,
      message,
      count: (same?.count ?? 0) + 1,
      firstTime: same?.firstTime ?? now,
      lastTime: now,
    };
    entry.events = [...entry.events.filter((other) => other !== same), event].slice(-keptEvents);
    await this.#save(ref);
  }

  /** The files stay when the operator ends, so they must not say that stopped programs run. */
  async markStopped(): Promise<void> {
    for (const [key, { status, generation }] of this.#entries) {
      const [kind, name = ''] = key.split('/');
      if (status === undefined || (kind !== 'Tenant' && kind !== 'KMSConfig')) continue;
      const stopped = [notReady('Stopped', 'the operator was stopped, and its programs with it')];
      const conditions = mergeConditions(status.conditions, stopped, generation, this.#now());
      const { observedGeneration, keyService } = status;
      const kept = keyService === undefined ? {} : { keyService };
      await this.put(
        { kind, name },
        { ...kept, observedGeneration, servers: '0/0', replicas: 0, health: 'Unavailable', conditions },
      );
    }
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #entry(ref: ResourceRef): Entry {
    const key = `${ref.kind}/${ref.name}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const made: Entry = { generation: 0, object: undefined, status: undefined, events: [] };
    this.#entries.set(key, made);
    return made;
  }

  #path(key: string): string {
    const [kind = '', name = ''] = key.split('/');
    return this.#state.at('status', `${kind.toLowerCase()}-${name}.yaml`);
  }

  #save(ref: ResourceRef): Promise<void> {
    const key = `${ref.kind}/${ref.name}`;
    const { object, generation, status, events } = this.#entry(ref);
    const text = stringify(
      {
        apiVersion,
        kind: ref.kind,
        metadata: { ...object?.metadata, name: ref.name, generation },
        ...(object === undefined ? {} : { spec: object.spec }),
        status,
        events,
      },
      { lineWidth: 0, aliasDuplicateObjects: false },
    );
    this.#writing = this.#writing.then(() => writeFileAtomically(this.#path(key), text, { mode: 0o644 }));
    return this.#writing;
  }

  /** An unreadable file counts as missing and is written anew. */
  #load(file: string): void {
    try {
      const { events, status, ...manifest } = parse(readFileSync(this.#state.at('status', file), 'utf8')) as {
        kind: ResourceRef['kind'];
        metadata: { name: string; generation: number };
        status?: ResourceStatus;
        events?: readonly RecordedEvent[];
      };
      const read = validate(manifest);
      if (read.kind !== 'object') return;
      const entry = this.#entry({ kind: manifest.kind, name: manifest.metadata.name });
      entry.generation = manifest.metadata.generation;
      entry.object = read.object;
      entry.status = status && asBefore(status);
      entry.events = events ?? [];
    } catch {
      return;
    }
  }
}

/** Returns the status of an earlier operator: the times of its conditions count, but no program runs. */
function asBefore({ observedGeneration, conditions }: ResourceStatus): ResourceStatus {
  return { observedGeneration, conditions };
}
