import { restartAnnotation } from '../api/tenant.ts';
import type { ResizingVolume, RunningWorkload } from '../runtime/contract/runtime.ts';
import { describeDeletedClaims } from './rollout.ts';
import { notReady, reconciling, stalled, type ConditionUpdate, type ResourceStatus } from './conditions.ts';

/** Milliseconds that the growth of a volume may take: clouds need some minutes. */
const growthDeadlineMs = 10 * 60_000;

interface VolumeConditions {
  readonly conditions: readonly ConditionUpdate[];
  /** Milliseconds until the growth under way is overdue. */
  readonly againMs: number | undefined;
}

/**
 * Adds the conditions of volumes that are being deleted, or do not have the requested size. While a volume grows, the resource is not Ready; after a deadline
 * it is Stalled, and the user has to act.
 *
 * @param before the status of the reconcile before, which has the time when the growth began
 */
export function withVolumes(
  found: readonly ConditionUpdate[],
  running: Pick<RunningWorkload, 'resizing' | 'deletedClaims'> | undefined,
  before: Pick<ResourceStatus, 'conditions'> | undefined,
  now: Date,
): VolumeConditions {
  const deleted = running?.deletedClaims ?? [];
  if (deleted.length > 0) return { conditions: withDeletedClaims(found, deleted), againMs: undefined };
  const volumes = running?.resizing ?? [];
  const growing = volumes.filter(({ state }) => state !== 'cannot-shrink').toSorted(failedFirst);
  const [first] = growing;
  if (first === undefined) return { conditions: [...found, ...kept(volumes)], againMs: undefined };
  const reason = reasons[first.state];
  const message = growing.map(describe).join('; ');
  const resizing: ConditionUpdate = { type: 'VolumeResizing', status: 'True', reason, message };
  const since = before?.conditions.find(
    ({ type, status }) => type === 'VolumeResizing' && status === 'True',
  )?.lastTransitionTime;
  const leftMs = (since === undefined ? now.getTime() : Date.parse(since)) + growthDeadlineMs - now.getTime();
  const againMs = leftMs > 0 ? leftMs : undefined;
  // Other problems come first.
  if (found[0]?.status !== 'True') return { conditions: [...found, resizing], againMs };
  const rest = found.slice(1).filter(({ type }) => type !== 'Reconciling');
  const reported =
    againMs === undefined
      ? [notReady('VolumeNotGrown', message), stalled('VolumeNotGrown', message)]
      : [{ type: 'Ready', status: 'Unknown', reason, message } as const, reconciling(reason, message)];
  return { conditions: [...reported, ...rest, resizing], againMs };
}

/** Data that is about to be lost comes before every other problem. */
function withDeletedClaims(found: readonly ConditionUpdate[], claims: readonly string[]): readonly ConditionUpdate[] {
  const message = describeDeletedClaims(claims);
  const rest = found.filter(({ type }) => type !== 'Ready' && type !== 'Stalled' && type !== 'Reconciling');
  return [notReady('VolumeBeingDeleted', message), stalled('VolumeBeingDeleted', message), ...rest];
}

/** A volume that is larger than requested is no problem; the condition explains why it stays as it is. */
function kept(volumes: readonly ResizingVolume[]): readonly ConditionUpdate[] {
  if (volumes.length === 0) return [];
  const message = volumes
    .map(({ claim, has, asked }) => `PersistentVolumeClaim ${claim} keeps its ${has}, though ${asked} was asked`)
    .join('; ');
  return [
    { type: 'VolumeResizing', status: 'False', reason: 'CannotShrink', message: `${message}: a volume cannot shrink` },
  ];
}

const reasons = {
  failed: 'ResizeFailed',
  'waits-for-pod': 'FileSystemResizePending',
  growing: 'Resizing',
  'cannot-shrink': 'CannotShrink',
} as const satisfies Readonly<Record<ResizingVolume['state'], string>>;

function describe({ claim, has, asked, state, message }: ResizingVolume): string {
  const size = `PersistentVolumeClaim ${claim} has ${has}, and ${asked} was asked`;
  const words = message === undefined ? '' : `: ${message}`;
  const see = `kubectl describe pvc ${claim}`;
  switch (state) {
    case 'failed':
      return `${size}, which failed${words}; correct what the storage driver says (${see}): it is tried again`;
    case 'waits-for-pod':
      return `${size}: the volume has grown, its file system has not; some drivers need a restart (annotation ${restartAnnotation})`;
    case 'growing':
    case 'cannot-shrink':
      return `${size}: it waits for the storage driver; where nothing happens, ${see} and its StorageClass tell why`;
    default:
      return state satisfies never;
  }
}

function failedFirst(a: ResizingVolume, b: ResizingVolume): number {
  return Number(b.state === 'failed') - Number(a.state === 'failed');
}
