import type { RunningWorkload } from '../runtime.ts';
import type { Workload } from '../workload.ts';
import { restartReasons, type Restart } from './restart-reasons.ts';

/** One thing to do now. What must wait becomes a step of a later plan, made when what it waits for has changed. */
export type Step =
  | { readonly kind: 'start'; readonly workload: Workload }
  | { readonly kind: 'restart'; readonly workload: Workload; readonly restarts: readonly Restart[] }
  /** Nothing that needs a restart changed; files that are re-read may have. */
  | { readonly kind: 'refresh'; readonly workload: Workload }
  | { readonly kind: 'wait'; readonly workload: Workload; readonly for: string; readonly restarts: readonly Restart[] }
  | { readonly kind: 'remove'; readonly name: string };

/**
 * The next safe steps. A workload waits for those it depends on: they are ready, and have no step of their own to take, so that a
 * key service is up to date before a server starts. What runs and is neither desired nor in `leaveAlone` is removed.
 */
export function plan(
  desired: readonly Workload[],
  running: readonly RunningWorkload[],
  leaveAlone: ReadonlySet<string>,
): readonly Step[] {
  const runningByName = new Map(running.map((workload) => [workload.name, workload]));
  const settled = new Set(
    desired.filter((workload) => isSettled(workload, runningByName.get(workload.name))).map(({ name }) => name),
  );
  const wanted = new Set(desired.map(({ name }) => name));
  const steps = desired.map((workload) => stepFor(workload, runningByName.get(workload.name), settled));
  const removals = running
    .filter(({ name }) => !wanted.has(name) && !leaveAlone.has(name))
    .map(({ name }): Step => ({ kind: 'remove', name }));
  return [...removals, ...steps];
}

function isSettled(workload: Workload, running: RunningWorkload | undefined): boolean {
  return (
    running?.state.kind === 'ready' && restartReasons(running.inputs, workload.inputs, workload.owner).length === 0
  );
}

function stepFor(workload: Workload, running: RunningWorkload | undefined, settled: ReadonlySet<string>): Step {
  const restarts = running === undefined ? [] : restartReasons(running.inputs, workload.inputs, workload.owner);
  if (running !== undefined && restarts.length === 0) return { kind: 'refresh', workload };
  const missing = workload.dependsOn.find((name) => !settled.has(name));
  if (missing !== undefined) return { kind: 'wait', workload, for: missing, restarts };
  return running === undefined ? { kind: 'start', workload } : { kind: 'restart', workload, restarts };
}
