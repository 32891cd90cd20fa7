import type { KMSConfig, Tenant } from '../api/object.ts';
import { workloadName } from '../render/render-context.ts';
import type { RunningWorkload } from '../runtime/contract/runtime.ts';
import type { ConditionUpdate } from './conditions.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/** The hours of a week in which upgrades to a new default image begin. Minutes of UTC. */
export interface UpgradeWindow {
  /** 0 is Sunday. */
  readonly days: readonly number[];
  readonly fromMinute: number;
  /** At most a day. */
  readonly minutes: number;
}

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const syntax = /^(?:([A-Za-z,]+) )?([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-4]):([0-5][0-9])$/;

/**
 * `Sat,Sun 02:00-05:00`, or `22:00-02:00` of every day: UTC, over midnight where it ends before it begins. Errors with a message for
 * people.
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

/** When the window opens next; undefined while it is open. */
export function nextOpening({ days, fromMinute, minutes }: UpgradeWindow, now: Date): Date | undefined {
  const inWeek = now.getUTCDay() * dayMs + (now.getTime() % dayMs);
  const starts = days.map((day) => day * dayMs + fromMinute * 60_000);
  if (starts.some((start) => (inWeek - start + weekMs) % weekMs < minutes * 60_000)) return undefined;
  return new Date(now.getTime() + Math.min(...starts.map((start) => (start - inWeek + weekMs) % weekMs)));
}

/** Milliseconds until a place among those that roll is asked for again. */
const recheckMs = 30_000;

/** What a workload whose resource names no image is rendered with. */
export interface DefaultImage {
  /** Undefined where programs come from no image. */
  readonly image: string | undefined;
  /** Why that is not the newest one; nothing where it is. */
  readonly held: readonly ConditionUpdate[];
}

/**
 * The operator's default image, or the one that runs while the window holds the newer one. What a person changes is rolled out
 * meanwhile with the image that runs. An upgrade that was recorded goes on when the window closes.
 *
 * @param keyService what the last pass of the key service found: it is upgraded before its tenants
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
  // It is settled with the image that runs, and so loses its turn among those that wait for a place.
  enqueue(ref, recheckMs);
  return { image: runs, held: held('RolloutInProgress', image, runs, 'until fewer others are rolling') };
}

function held(reason: string, image: string, runs: string, until: string): readonly ConditionUpdate[] {
  const message = `runs ${runs}, and waits with ${image} ${until}; to upgrade it now, name the image in spec.image`;
  return [{ type: 'UpgradeHeld', status: 'True', reason, message }];
}

/** The former default image that runs; undefined where there is no upgrade, or where a person made it one. */
function upgradedFrom(
  { kind, metadata, spec }: Tenant | KMSConfig,
  running: RunningWorkload | undefined,
  image: string | undefined,
): string | undefined {
  // What rests is upgraded at no cost.
  if (spec.image !== undefined || running === undefined || running.instances.length === 0) return undefined;
  const recorded = running.inputs.find(
    ({ field, of }) => field === 'spec.image' && of.kind === kind && of.name === metadata.name,
  );
  return recorded?.named === true || recorded?.shown === image ? undefined : recorded?.shown;
}
