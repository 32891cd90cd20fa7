import type { Instance, RunningWorkload } from '../runtime.ts';
import type { ResourceReference } from '../workload.ts';
import type { Health, ResourceStatus, RolloutStatus } from './conditions.ts';
import { describeRestarts, restartReasons } from './restart-reasons.ts';
import type { RolloutStep } from './rollout.ts';

/** What the status of an owner tells of its workload, beside conditions. */
export function workloadStatus(
  running: RunningWorkload | undefined,
  wanted: number,
  step: RolloutStep | undefined,
  owner: ResourceReference,
): Partial<ResourceStatus> {
  const addresses = running?.addresses ?? {};
  const version = versionOf(running);
  const rollout = running === undefined ? undefined : rolloutOf(running, step, owner);
  return {
    servers: `${readyOf(running)}/${running?.wanted ?? wanted}`,
    replicas: running?.instances.filter(isMade).length ?? 0,
    ...(running?.selector === undefined ? {} : { selector: running.selector }),
    health: healthOf(running, wanted),
    ...(version === undefined ? {} : { version }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(Object.keys(addresses).length === 0 ? {} : { addresses }),
  };
}

export function healthOf(running: RunningWorkload | undefined, wanted: number): Health {
  if (wanted === 0) return 'Hibernated';
  if (running === undefined) return 'Unknown';
  const ready = readyOf(running);
  if (ready >= running.wanted) return 'Healthy';
  return ready === 0 ? 'Unavailable' : 'Degraded';
}

function readyOf(running: RunningWorkload | undefined): number {
  return running?.instances.filter(({ state }) => state.kind === 'ready').length ?? 0;
}

/** One whose pod was refused is not there. */
function isMade({ state }: Instance): boolean {
  return state.kind !== 'broken' || state.refused !== true;
}

function versionOf(running: RunningWorkload | undefined): string | undefined {
  const versions = new Set(running?.instances.flatMap(({ version }) => version ?? []));
  return versions.size === 0 ? undefined : cut([...versions].sort().join(', '), maxVersion);
}

/** Instances that run with other inputs than those recorded are still to be replaced. */
function rolloutOf(
  running: RunningWorkload,
  step: RolloutStep | undefined,
  owner: ResourceReference,
): RolloutStatus | undefined {
  const outdated = running.instances.filter(({ inputs }) => restartReasons(inputs, running.inputs, owner).length > 0);
  const restarts = step !== undefined && 'restarts' in step ? step.restarts : [];
  if (restarts.length === 0 || running.wanted === 0) return undefined;
  // It could not be recorded, so that nothing restarts for it.
  if (step?.kind === 'update' && running.refused !== undefined) return undefined;
  // Before the new version is recorded, none is updated.
  const updated = step?.kind === 'update' || isUnrecorded(step, outdated.length) ? 0 : running.wanted - outdated.length;
  const reason = cut(describeRestarts(restarts), maxReason);
  return { reason, updated: Math.max(0, updated), total: running.wanted };
}

function isUnrecorded(step: RolloutStep | undefined, outdated: number): boolean {
  return step?.kind === 'wait' && outdated === 0;
}

/** Characters that the schema of the status has room for: the API server refuses a status that is longer in one place. */
const maxReason = 4_096;
const maxVersion = 512;

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
