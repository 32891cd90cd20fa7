import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { restartReasons } from '../../reconcile/rollout.ts';
import { isRenewed } from '../../contract/resolve.ts';
import type { Instance, InstanceState, RefusalReason, RunningWorkload, WorkloadState } from '../../contract/runtime.ts';
import type { Mount, MountedFile, Program, RestartInput, Workload } from '../../contract/workload.ts';
import { ChildLog, compileCache, endLeftover, type Command } from './child-process.ts';
import { portError, probe, reachedAt, resolveContent, resolveText, type Symbols } from './addresses.ts';
import type { StateFolder } from './state-folder.ts';
import { Supervisor } from './supervisor.ts';

export interface LocalWorkloadOptions {
  readonly name: string;
  readonly state: StateFolder;
  readonly programs: Readonly<Record<Program, string>>;
  readonly symbols: Symbols;
  readonly version: string;
  readonly verbose: boolean;
  readonly line: (line: string) => void;
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly changed: () => void;
  readonly random: () => number;
}

/** The variables that a child inherits: none of them can be a setting or a secret. */
const inherited = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'TMPDIR',
  'TEMP',
  'SystemRoot',
  'NODE_EXTRA_CA_CERTS',
  // The variables of the allocator that bin/ sets.
  'MALLOC_ARENA_MAX',
  'MALLOC_MMAP_THRESHOLD_',
  'MALLOC_TRIM_THRESHOLD_',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];
/** Milliseconds between attempts to start a program that could not start, e.g. because its port was in use. */
const retryMs = 1_500;

/** One workload as a process of this machine. Its one instance has the workload's name. Its changes run one after the other. */
export class LocalWorkload {
  readonly #options: LocalWorkloadOptions;
  readonly #log: ChildLog;
  /** The last applied workload, which the instance starts with next. */
  #applied: Workload | undefined;
  /** Inputs that the instance was started with. */
  #startedWith: readonly RestartInput[] = [];
  #wanted = 1;
  #supervisor: Supervisor | undefined;
  #rejected: { reason: RefusalReason; message: string } | undefined;
  #queue: Promise<void> = Promise.resolve();
  #busy = 0;
  #restartWanted = false;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: LocalWorkloadOptions) {
    this.#options = options;
    const path = join(options.state.folder('logs'), `${options.name}.log`);
    this.#log = new ChildLog(path, (line) => options.line(line), options.verbose);
  }

  /** The last applied workload. */
  get workload(): Workload | undefined {
    return this.#applied;
  }

  observe(): RunningWorkload {
    const ports = this.#applied?.ports ?? [];
    return {
      name: this.#options.name,
      inputs: this.#applied?.inputs ?? [],
      state: this.#state(),
      instances: this.#instances(),
      wanted: this.#wanted,
      ...(this.#rejected === undefined ? {} : { rejected: this.#rejected }),
      addresses: Object.fromEntries(ports.map((port) => [port.name, reachedAt(port)])),
    };
  }

  /** Records the workload for the next start, and starts an instance if there is none. Resolves before it is ready. */
  async apply(workload: Workload): Promise<void> {
    await this.#take(workload, true);
  }

  /** Records everything that needs no restart, and rewrites the files that the program re-reads. */
  async refresh(workload: Workload): Promise<void> {
    await this.#take(workload, this.#applied === undefined || !isChanged(this.#applied, workload));
  }

  /** Rewrites the existing files that would expire. */
  async renew(workload: Workload): Promise<void> {
    if (this.#stopped || this.#supervisor === undefined || this.#busy > 0) return;
    const known = new Set(this.#applied?.mounts.map(({ name }) => name));
    const mounts = workload.mounts.filter(({ name }) => known.has(name));
    await this.#enqueue(() => this.#writeFiles({ ...workload, mounts }, 'renewed'));
  }

  /** Ends the instance and starts it as the workload was last applied. */
  replace(): void {
    if (!this.#stopped && this.#wanted > 0) this.#requestRestart();
  }

  async #take(workload: Workload, record: boolean): Promise<void> {
    if (this.#stopped) return;
    this.#wanted = workload.kubernetes.hibernated ? 0 : workload.replicas;
    if (this.#wanted > 1) {
      this.#refuseReplicas(workload);
      return;
    }
    if (this.#rejected?.reason === 'ReplicasUnsupported') this.#rejected = undefined;
    const changed = this.#applied !== undefined && isChanged(this.#applied, workload);
    if (record) this.#applied = workload;
    if (this.#wanted === 0) {
      await this.#enqueue(() => this.#hibernate());
      return;
    }
    if (this.#supervisor === undefined && this.#busy === 0) {
      // A timer retries a refused start, not every reconcile. A change of the workload retries at once.
      if (this.#rejected === undefined || (record && changed)) this.#requestRestart();
      return;
    }
    // A restart under way writes the files itself.
    const { workload: recorded } = this;
    if (this.#busy === 0 && recorded !== undefined) await this.#enqueue(() => this.#writeFiles(recorded, 'reloading'));
  }

  #refuseReplicas(workload: Workload): void {
    const kept = this.#supervisor === undefined ? '' : ' The one that runs is left alone.';
    this.#refuse(
      'ReplicasUnsupported',
      `${workload.replicas} replicas need Kubernetes: one machine runs one. Set spec.replicas of ${workload.owner.kind} ${workload.owner.name} to 1.${kept}`,
    );
    this.#applied ??= workload;
  }

  async #hibernate(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#supervisor === undefined) return;
    await this.#supervisor.stop();
    this.#supervisor = undefined;
    this.#options.changed();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#enqueue(async () => {
      await this.#supervisor?.stop();
      this.#supervisor = undefined;
      this.#log.close();
    });
  }

  #instances(): readonly Instance[] {
    const { name, version } = this.#options;
    if (this.#supervisor === undefined && this.#busy === 0) return [];
    // An instance that waits for a restart starts with the last applied workload.
    const inputs = this.#restartWanted ? (this.#applied?.inputs ?? []) : this.#startedWith;
    return [{ name, inputs, state: instanceState(this.#state()), version }];
  }

  #state(): WorkloadState {
    if (this.#busy > 0) return { kind: 'starting' };
    return this.#supervisor?.state ?? { kind: 'stopped' };
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const next = this.#queue.then(task);
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** Several requests before the restart begins are one restart, with the newest workload. */
  #requestRestart(): void {
    clearTimeout(this.#retry);
    this.#restartWanted = true;
    this.#busy += 1;
    void this.#enqueue(() => this.#restart()).finally(() => {
      this.#busy -= 1;
      this.#options.changed();
    });
  }

  async #restart(): Promise<void> {
    if (!this.#restartWanted) return;
    try {
      await this.#supervisor?.stop();
      this.#supervisor = undefined;
      // Read the workload only now: changes that came during the stop are part of this restart.
      this.#restartWanted = false;
      const workload = this.#applied;
      if (workload === undefined || this.#stopped || this.#wanted !== 1) return;
      this.#startedWith = workload.inputs;
      await this.#start(workload);
    } catch (error) {
      this.#restartWanted = false;
      this.#refuse('StartFailed', error instanceof Error ? error.message : String(error));
      this.#startLater();
    }
  }

  async #start(workload: Workload): Promise<void> {
    const { state, name } = this.#options;
    const pidFile = join(state.folder('workloads', name), 'process');
    await endLeftover(pidFile);
    await this.#writeFiles(workload, 'all');
    const taken = await portError(workload.ports);
    if (taken !== undefined) {
      this.#refuse('PortInUse', taken);
      this.#startLater();
      return;
    }
    this.#rejected = undefined;
    this.#supervisor = new Supervisor({
      command: commandOf(workload, this.#options),
      log: this.#log,
      pidFile,
      ready: () => probe(workload, workload.readiness),
      changed: () => this.#options.changed(),
      crashed: (message) => this.#options.event('Warning', 'Crashed', `${name} ended by itself: ${message}`),
      random: () => this.#options.random(),
    });
  }

  #startLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (!this.#stopped) this.#requestRestart();
    }, retryMs);
  }

  #refuse(reason: RefusalReason, message: string): void {
    const changed = this.#rejected?.message !== message;
    this.#rejected = { reason, message };
    if (changed) this.#options.changed();
  }

  /** While an instance runs, only the files that it re-reads are written. The others belong to the version that it was started with. */
  async #writeFiles(workload: Workload, which: WrittenFiles): Promise<void> {
    for (const mount of workload.mounts) await writeMount(workload, mount, which, this.#options.symbols);
  }
}

type WrittenFiles = 'all' | 'reloading' | 'renewed';

const isWritten: Readonly<Record<WrittenFiles, (file: MountedFile) => boolean>> = {
  all: () => true,
  reloading: ({ reloads }) => reloads,
  renewed: isRenewed,
};

/** Writes the files of a mount into its folder, and makes the folder of a volume. */
export async function writeMount(
  workload: Workload,
  mount: Mount,
  which: WrittenFiles,
  symbols: Symbols,
): Promise<void> {
  const folder = symbols.mountPath(workload.name, mount.name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (mount.kind === 'volume') return;
  const wanted = new Set(mount.files.map(({ path }) => path));
  const stale = which !== 'all' ? [] : readdirSync(folder).filter((name) => !wanted.has(name));
  for (const gone of stale) rmSync(join(folder, gone), { recursive: true });
  for (const file of mount.files) {
    if (!isWritten[which](file)) continue;
    const path = join(folder, file.path);
    const before = await readFile(path, 'utf8').catch(() => undefined);
    if (which === 'renewed' && before === undefined) continue;
    const content = await resolveContent(file.content, workload, symbols);
    if (before === content) continue;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomically(path, content);
  }
}

/** Returns how the program of a workload is started. */
export function commandOf(
  workload: Workload,
  { symbols, programs }: Pick<LocalWorkloadOptions, 'symbols' | 'programs'>,
): Command {
  const environment: Record<string, string> = {};
  for (const name of inherited) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  // Settings of this machine's own server are not those of a tenant.
  environment['SVC_CONFIG_ENV_FILE'] = devNull;
  environment['NODE_COMPILE_CACHE'] = compileCache;
  for (const { name, value } of workload.environment) environment[name] = resolveText(value, workload, symbols);
  return {
    script: programs[workload.program],
    arguments: workload.arguments.map((argument) => resolveText(argument, workload, symbols)),
    environment,
  };
}

function isChanged(before: Workload, after: Workload): boolean {
  return restartReasons(before.inputs, after.inputs, after.owner).length > 0;
}

function instanceState(state: WorkloadState): InstanceState {
  switch (state.kind) {
    case 'crash-loop':
      return { kind: 'broken', restarts: state.restarts, message: state.message };
    case 'stopped':
      return { kind: 'stopping' };
    case 'starting':
    case 'ready':
    case 'not-ready':
      return state;
    default:
      return state satisfies never;
  }
}
