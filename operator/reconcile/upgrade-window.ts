import type { KMSConfig, Tenant } from '../api/object.ts';
import { workloadName } from '../render/render-context.ts';
import type { RunningWorkload } from '../contract/runtime.ts';
import type { ConditionUpdate } from './conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { UpgradeWindow } from './rollout-limit.ts';

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const syntax = /^(?:([A-Za-z,]+) )?([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-4]):([0-5][0-9])$/;

/**
 * Parses `Sat,Sun 02:00-05:00`, or `22:00-02:00` for every day. Times are UTC; a window that ends before it begins goes over midnight.
 * The message of an error is for users.
 */
export function parseUpgradeWindow(text: string): UpgradeWindow {
  const [, names, fromHour, fromRest, toHour, toRest] = syntax.exec(text.trim()) ?? [];
  const days = names?.split(',').map((name) => dayNames.indexOf(name)) ?? [0, 1, 2, 3, 4, 5, 6];
  const from = Number(fromHour) * 60 + Number(fromRest);
  const to = Number(toHour) * 60 + Number(toRest);
  if (fromHour === undefined || days.includes(-1) || to > 1_440 || from === to) {
    throw new Error(
      `"${text}" is no window: write days and hours of UTC, such as "Sat,Sun 02:00-05:00" or "22:00-02:00"`,
    );
  }
  return { days, fromMinute: from, minutes: to > from ? to - from : to - from + 1_440 };
}

/** Returns the next time at which the window opens; undefined while it is open. */
export function nextOpening({ days, fromMinute, minutes }: UpgradeWindow, now: Date): Date | undefined {
  const inWeek = now.getUTCDay() * dayMs + (now.getTime() % dayMs);
  const starts = days.map((day) => day * dayMs + fromMinute * 60_000);
  if (starts.some((start) => (inWeek - start + weekMs) % weekMs < minutes * 60_000)) return undefined;
  return new Date(now.getTime() + Math.min(...starts.map((start) => (start - inWeek + weekMs) % weekMs)));
}

/** Milliseconds until the rollout limit is asked again. */
const recheckMs = 30_000;

/** The image of a workload whose resource names none. */
export interface DefaultImage {
  /** Undefined in the local runtime, where programs come from no image. */
  readonly image: string | undefined;
  /** The condition that says why it is not the newest image; empty when it is. */
  readonly held: readonly ConditionUpdate[];
}

/**
 * Returns the operator's default image, or the running image while the window holds the newer one. Changes of the user are rolled out
 * meanwhile with the running image. An upgrade that was recorded continues when the window closes.
 *
 * @param keyService the last conditions of the key service, which is upgraded before its tenants
 */
export function defaultImage(
  resource: Tenant | KMSConfig,
  running: RunningWorkload | undefined,
  options: Pick<ReconcilerOptions, 'operandImage' | 'rolloutLimit' | 'namespace' | 'enqueue' | 'now'>,
  keyService: readonly ConditionUpdate[] = [],
): DefaultImage {
  const { operandImage: image, rolloutLimit, namespace, enqueue, now } = options;
  const ref = { kind: resource.kind, name: resource.metadata.name } as const;
  const runs = upgradedFrom(resource, running, image);
  if (rolloutLimit.window === undefined || runs === undefined || image === undefined) return { image, held: [] };
  const opensAt = nextOpening(rolloutLimit.window, now());
  if (opensAt !== undefined) {
    enqueue(ref, opensAt.getTime() - now().getTime());
    const until = `until ${opensAt.toISOString().replace('.000Z', 'Z')}, when the upgrade window opens`;
    return { image: runs, held: held('OutsideUpgradeWindow', image, runs, until) };
  }
  if (keyService.some(({ type }) => type === 'UpgradeHeld')) {
    return { image: runs, held: held('KeyServiceUnavailable', image, runs, 'until its key service is upgraded') };
  }
  if (rolloutLimit.mayTake(`${namespace}/${workloadName(ref)}`, () => undefined)) return { image, held: [] };
  // The workload is settled with the running image, so it is not in the list of those that wait for a place.
  enqueue(ref, recheckMs);
  return { image: runs, held: held('RolloutInProgress', image, runs, 'until fewer others are rolling') };
}

function held(reason: string, image: string, runs: string, until: string): readonly ConditionUpdate[] {
  const message = `runs ${runs}, and waits with ${image} ${until}; to upgrade it now, name the image in spec.image`;
  return [{ type: 'UpgradeHeld', status: 'True', reason, message }];
}

/** Returns the former default image that runs; undefined when there is no upgrade, or when the user chose the image. */
function upgradedFrom(
  { kind, metadata, spec }: Tenant | KMSConfig,
  running: RunningWorkload | undefined,
  image: string | undefined,
): string | undefined {
  // A workload without instances is upgraded without a restart.
  if (spec.image !== undefined || running === undefined || running.instances.length === 0) return undefined;
  const recorded = running.inputs.find(
    ({ field, of }) => field === 'spec.image' && of.kind === kind && of.name === metadata.name,
  );
  return recorded?.named === true || recorded?.shown === image ? undefined : recorded?.shown;
}
