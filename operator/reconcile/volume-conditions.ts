import { namespaceFlag } from '../api/kubectl-argument.ts';
import { restartAnnotation } from '../api/tenant.ts';
import type { ResizingVolume, RunningWorkload } from '../contract/runtime.ts';
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
  const growing = volumes.filter(({ state }) => !isSettled(state)).toSorted(failedFirst);
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

/** A volume that is larger than requested is not a problem; the condition explains why it stays as it is. */
function kept(volumes: readonly ResizingVolume[]): readonly ConditionUpdate[] {
  const [first] = volumes;
  if (first === undefined) return [];
  const larger = volumes.filter(({ state }) => state === 'cannot-shrink');
  const back = volumes.filter(({ state }) => state === 'taken-back');
  const messages = [
    ...(larger.length === 0 ? [] : [`${larger.map(describe).join('; ')}: a volume cannot shrink`]),
    ...back.map(describe),
  ];
  const reason = larger.length === 0 ? reasons['taken-back'] : reasons['cannot-shrink'];
  return [{ type: 'VolumeResizing', status: 'False', reason, message: messages.join('; ') }];
}

/** Reports whether nothing more happens to a volume in this state. */
function isSettled(state: ResizingVolume['state']): boolean {
  return state === 'cannot-shrink' || state === 'taken-back';
}

const reasons = {
  failed: 'ResizeFailed',
  'waits-for-pod': 'FileSystemResizePending',
  growing: 'Resizing',
  'cannot-shrink': 'CannotShrink',
  'taken-back': 'GrowthTakenBack',
} as const satisfies Readonly<Record<ResizingVolume['state'], string>>;

function describe({ claim, namespace, has, asked, state, message }: ResizingVolume): string {
  const size = `PersistentVolumeClaim ${claim} has ${has}, and ${asked} was asked`;
  const words = message === undefined ? '' : `: ${message}`;
  const see = `kubectl describe persistentvolumeclaim ${claim}${namespaceFlag(namespace)}`;
  switch (state) {
    case 'failed':
      return `${size}, which failed${words}; correct what the storage driver says (${see}): it is tried again; or set the size back`;
    case 'waits-for-pod':
      return `${size}: the volume has grown, its file system has not; some drivers need a restart (annotation ${restartAnnotation})`;
    case 'cannot-shrink':
      return `PersistentVolumeClaim ${claim} keeps its ${has}, though ${asked} was asked`;
    case 'taken-back':
      return (
        `PersistentVolumeClaim ${claim} has ${has}, as was asked; the claim itself asks for ${asked} still, which Kubernetes takes back only ` +
        'to a size above that of the volume'
      );
    case 'growing':
      return `${size}: it waits for the storage driver; where nothing happens, ${see} and its StorageClass tell why`;
    default:
      return state satisfies never;
  }
}

function failedFirst(a: ResizingVolume, b: ResizingVolume): number {
  return Number(b.state === 'failed') - Number(a.state === 'failed');
}
