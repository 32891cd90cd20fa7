import type { Secret } from '../contract/secret.ts';
import type { RunningWorkload, Runtime } from '../contract/runtime.ts';
import type { ResourceRef, RestartInput, Workload, WorkloadCheck } from '../contract/workload.ts';
import { canonical } from '../render/restart-inputs.ts';
import { restartReasons, type Unproven } from './rollout.ts';

interface KeystoreChecksOptions {
  readonly runtime: Pick<Runtime, 'check'>;
  readonly enqueue: (ref: ResourceRef, afterMs?: number) => void;
  readonly now: () => Date;
}

type Outcome =
  { readonly kind: 'pending' } | { readonly kind: 'passed' } | { readonly kind: 'failed'; readonly why: string };

interface CheckedWorkload {
  readonly desired: Workload;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly found: readonly string[];
}

interface Entry {
  readonly key: string;
  readonly outcome: Outcome;
  readonly isUnderWay: boolean;
  /** Milliseconds since the epoch of its end. */
  readonly at: number;
}

/** Milliseconds until a failed check is repeated. */
const repeatMs = 30_000;

/**
 * Runs the check of a key service before its instances are replaced for a change of its keystore, or of the credentials for it, and before
 * a volume is taken that the operator did not make.
 */
export class KeystoreChecks {
  readonly #options: KeystoreChecksOptions;
  /** The last check of each workload, by its name. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: KeystoreChecksOptions) {
    this.#options = options;
  }

  /**
   * Answers why a workload is not proven yet, and starts its check. Answers undefined where nothing is to be proven: nothing changed that
   * the check proves, and no volume was found.
   */
  whyUnproven(
    desired: Workload,
    running: RunningWorkload | undefined,
    secrets: ReadonlyMap<string, Secret>,
    found: readonly string[],
  ): Unproven | undefined {
    const { check, name } = desired;
    if (check === undefined || !(found.length > 0 || isChanged(desired, check, running))) {
      this.#entries.delete(name);
      return undefined;
    }
    const key = canonical([check.inputs, check.expects, found]);
    const entry = this.#entries.get(name);
    const isAnother = entry?.key !== key;
    if (isAnother || isOver(entry, this.#options.now())) void this.#run({ desired, secrets, found }, key, entry);
    return this.#report(desired, found, this.#entries.get(name)?.outcome);
  }

  /** Ends the interest in checks that are under way. */
  close(): void {
    this.#entries.clear();
  }

  #report({ owner }: Workload, found: readonly string[], outcome: Outcome | undefined): Unproven | undefined {
    if (outcome?.kind === 'passed') return undefined;
    const what =
      found.length === 0 ? 'the changed keystore' : `the volume ${found.join(', ')}, which was not made for it`;
    if (outcome?.kind !== 'failed') {
      return { isPending: true, message: `${what} is checked before an instance is touched` };
    }
    this.#options.enqueue(owner, repeatMs);
    const advice =
      found.length === 0
        ? 'the key service runs on with the one that it has: put spec.keystore back, or move the keys there first (keysvc migrate)'
        : 'it is left alone: restore the keys on it, or give the KMSConfig another name';
    return { isPending: false, message: `${what} is not proven to hold the keys: ${outcome.why}; ${advice}` };
  }

  /** A repeated check keeps the answer of the one before until it has ended, so that the condition does not flap. */
  async #run({ desired, secrets, found }: CheckedWorkload, key: string, before: Entry | undefined): Promise<void> {
    const { runtime, enqueue, now } = this.#options;
    const { name, owner } = desired;
    const outcome: Outcome = before?.key === key ? before.outcome : { kind: 'pending' };
    const started: Entry = { key, outcome, isUnderWay: true, at: 0 };
    this.#entries.set(name, started);
    const end = await runtime.check(desired, secrets, found).then(
      (why): Outcome => (why === undefined ? { kind: 'passed' } : { kind: 'failed', why }),
      (error: unknown): Outcome => ({ kind: 'failed', why: error instanceof Error ? error.message : String(error) }),
    );
    if (this.#entries.get(name) !== started) return;
    this.#entries.set(name, { key, outcome: end, isUnderWay: false, at: now().getTime() });
    enqueue(owner, 0);
  }
}

/** Reports whether a check is to be repeated: what it needs may have come back meanwhile. */
function isOver({ outcome, isUnderWay, at }: Entry, now: Date): boolean {
  return !isUnderWay && outcome.kind === 'failed' && now.getTime() - at >= repeatMs;
}

/** Reports whether instances would start with other keys than those that the running ones were started with. */
function isChanged({ owner }: Workload, check: WorkloadCheck, running: RunningWorkload | undefined): boolean {
  if (running === undefined || running.inputs.length === 0) return false;
  const fields = new Set(check.inputs.map(fieldOf));
  const recorded = running.inputs.filter((input) => fields.has(fieldOf(input)));
  return restartReasons(recorded, check.inputs, owner).length > 0;
}

function fieldOf({ field, of }: RestartInput): string {
  return `${field} of ${of.kind} ${of.name}`;
}
