import type { HealthCheck } from '../../../protocol/console/operations-answers.ts';
import type { ReplicationHealth } from '../../../protocol/admin/replication-health.ts';
import { counted } from '../../../platform/text/message-text.ts';

/** The input of the checks. Times are milliseconds since 1970. */
export interface HealthFacts {
  readonly now: number;
  readonly servers: readonly { readonly endpoint: string; readonly version: string }[];
  readonly version: string;
  readonly readOnly: boolean;
  /** Why the store must be promoted; undefined for a store that goes on. */
  readonly unpromoted?: string | undefined;
  /** Undefined where the store does not report it. */
  readonly space: { readonly free: number; readonly total: number } | undefined;
  /** Objects that are damaged and not served. */
  readonly quarantined: number;
  readonly keyService: 'online' | 'offline' | 'disabled';
  readonly providers: readonly { readonly name: string; readonly issue?: string }[];
  readonly directory: 'online' | 'offline' | 'disabled';
  readonly notifications: readonly {
    readonly target: string;
    readonly events: number;
    readonly fullSince?: number;
    readonly dropped: number;
    readonly failure?: { readonly since: number; readonly error: string };
    readonly held?: { readonly events: number; readonly error: string };
  }[];
  /** The targets of the replication of buckets; undefined while their records cannot be opened. */
  readonly replication: readonly ReplicationHealth[] | undefined;
  readonly tasks: readonly {
    readonly task: string;
    readonly failure?: { readonly since: number; readonly error: string };
  }[];
  readonly certificates: readonly { readonly name: string; readonly expires: number }[];
  readonly audit: {
    readonly targets: readonly { readonly target: string; readonly waiting: number; readonly dropped: number }[];
  };
}

const dayMs = 86_400_000;
/** Shares of the space. */
const fewFree = 0.1;
const hardlyFree = 0.03;
/** Milliseconds after which replication is late. */
const lateMs = 3_600_000;

/** Judges each part of the service: what is wrong comes with what to do. */
export function checkHealth(facts: HealthFacts): readonly HealthCheck[] {
  return [
    servers(facts),
    store(facts),
    space(facts),
    keyService(facts),
    providers(facts),
    targets(facts),
    ...replication(facts),
    tasks(facts),
    ...certificates(facts),
    ...audit(facts),
  ];
}

function servers({ servers: all, version }: HealthFacts): HealthCheck {
  const others = [...new Set(all.map((one) => one.version))].filter((one) => one !== version);
  const count = all.length === 1 ? 'One server answers' : `${all.length} servers answer`;
  if (others.length === 0) return { part: 'servers', state: 'good', words: `${count}, version ${version}.` };
  const words = `${count} with different versions (${[version, ...others].join(', ')}). A rollout may be under way.`;
  return { part: 'servers', state: 'warning', words };
}

function store({ readOnly, quarantined, unpromoted }: HealthFacts): HealthCheck {
  if (unpromoted !== undefined) {
    return { part: 'store', state: 'bad', words: `${unpromoted[0]?.toUpperCase() ?? ''}${unpromoted.slice(1)}.` };
  }
  if (quarantined > 0) {
    const words = `${counted(quarantined, 'damaged object is', 'damaged objects are')} not served. Restore them from a copy.`;
    return { part: 'store', state: 'bad', words };
  }
  if (readOnly) return { part: 'store', state: 'warning', words: 'The store is read-only: nothing can be written.' };
  return { part: 'store', state: 'good', words: 'It takes writes, and no damage was found.' };
}

function space({ space: room }: HealthFacts): HealthCheck {
  if (room === undefined || room.total === 0)
    return { part: 'space', state: 'off', words: 'The store does not report it.' };
  const share = room.free / room.total;
  const percent = `${Math.floor(share * 100)} % of the space is free.`;
  if (share < hardlyFree)
    return { part: 'space', state: 'bad', words: `${percent} Writes fail soon: add space or delete objects.` };
  if (share < fewFree) return { part: 'space', state: 'warning', words: `${percent} Add space, or delete objects.` };
  return { part: 'space', state: 'good', words: percent };
}

function keyService({ keyService: state }: HealthFacts): HealthCheck {
  if (state === 'disabled')
    return { part: 'key-service', state: 'off', words: 'None is configured: encryption is off.' };
  if (state === 'online') return { part: 'key-service', state: 'good', words: 'It answers and has the default key.' };
  const words =
    'It does not answer, or does not have the default key. Encrypted objects cannot be read or written now.';
  return { part: 'key-service', state: 'bad', words };
}

function providers({ providers: all, directory }: HealthFacts): HealthCheck {
  const broken = all.flatMap(({ name, issue }) => (issue === undefined ? [] : [`${name}: ${issue}`]));
  if (directory === 'offline') broken.push('The directory does not answer.');
  const count = all.length + (directory === 'disabled' ? 0 : 1);
  if (broken.length > 0) return { part: 'providers', state: 'bad', words: broken.join(' ') };
  if (count === 0) return { part: 'providers', state: 'off', words: 'None: people sign in by access keys.' };
  const words = count === 1 ? 'One can be used to sign in.' : `All ${count} can be used to sign in.`;
  return { part: 'providers', state: 'good', words };
}

function targets({ notifications: all }: HealthFacts): HealthCheck {
  if (all.length === 0) return { part: 'targets', state: 'off', words: 'No notification targets.' };
  const full = all.filter(({ fullSince, dropped }) => fullSince !== undefined || dropped > 0);
  const failing = all.filter(({ failure }) => failure !== undefined);
  const holding = all.flatMap(({ target, held }) => (held === undefined ? [] : [{ target, held }]));
  const words = [
    ...(full.length > 0 ? [`The queue of ${namesOf(full, 'target')} is full or was: events were lost.`] : []),
    ...failing.map(
      ({ target, events, failure }) =>
        `${target} takes no events (${counted(events, 'waits', 'wait')}): ${failure?.error ?? ''}.`,
    ),
    ...holding.map(
      ({ target, held: { events, error } }) =>
        `${target} refuses ${counted(events, 'event')}: ${error}. \`coffer admin events held\` lists them.`,
    ),
  ];
  if (words.length > 0) return { part: 'targets', state: full.length > 0 ? 'bad' : 'warning', words: words.join(' ') };
  return { part: 'targets', state: 'good', words: `${counted(all.length, 'target takes', 'targets take')} events.` };
}

/** Nothing is said where no bucket is replicated. */
function replication({ replication: all, now }: HealthFacts): readonly HealthCheck[] {
  if (all === undefined) {
    const words = 'The targets cannot be read while the key service does not answer.';
    return [{ part: 'replication', state: 'warning', words }];
  }
  if (all.length === 0) return [];
  const failing = all.filter(({ failure }) => failure !== undefined);
  const refusing = all.flatMap(({ bucket, target, held }) => (held === undefined ? [] : [{ bucket, target, held }]));
  const broken = [
    ...failing.map(
      ({ bucket, target, waiting, failure }) =>
        `${bucket} is not replicated to ${target} (${counted(waiting, 'version waits', 'versions wait')}): ${failure?.error ?? ''}.`,
    ),
    ...refusing.map(
      ({ bucket, target, held: { events, error } }) =>
        `${target} refuses ${counted(events, 'change')} of ${bucket}: ${error}. \`coffer replicate backlog\` lists them.`,
    ),
  ];
  if (broken.length > 0) return [{ part: 'replication', state: 'warning', words: broken.join(' ') }];
  const waiting = all.reduce((sum, one) => sum + one.waiting, 0);
  const late = all.filter(({ oldest }) => oldest !== undefined && now - oldest > lateMs);
  if (late.length > 0) {
    const places = late.map(({ bucket, target }) => `${bucket} to ${target}`);
    const words = `Replication is more than an hour late: ${places.join(', ')}. ${counted(waiting, 'version waits', 'versions wait')}.`;
    return [{ part: 'replication', state: 'warning', words }];
  }
  const words = `${counted(all.length, 'target gets', 'targets get')} new versions; ${waiting === 0 ? 'none waits' : counted(waiting, 'waits', 'wait')}.`;
  return [{ part: 'replication', state: 'good', words }];
}

function tasks({ tasks: all }: HealthFacts): HealthCheck {
  const failing = all.filter(({ failure }) => failure !== undefined);
  if (failing.length === 0) return { part: 'tasks', state: 'good', words: 'All background tasks succeed.' };
  const words = failing.map(({ task, failure }) => `${task} fails: ${failure?.error ?? ''}.`);
  return { part: 'tasks', state: 'bad', words: words.join(' ') };
}

function certificates({ certificates: all, now }: HealthFacts): readonly HealthCheck[] {
  if (all.length === 0) return [];
  const { name, expires } = all.reduce((first, one) => (one.expires < first.expires ? one : first));
  const days = Math.floor((expires - now) / dayMs);
  if (days < 0)
    return [{ part: 'certificates', state: 'bad', words: `The certificate of ${name} has expired. Replace it.` }];
  const words = `The certificate of ${name} expires in ${counted(days, 'day', 'days')}.`;
  return [{ part: 'certificates', state: days < 7 ? 'bad' : days < 30 ? 'warning' : 'good', words }];
}

function audit({ audit: { targets: all } }: HealthFacts): readonly HealthCheck[] {
  if (all.length === 0) return [];
  const dropped = all.filter((one) => one.dropped > 0);
  if (dropped.length > 0)
    return [{ part: 'audit', state: 'bad', words: `Entries for ${namesOf(dropped, 'target')} were lost.` }];
  return [{ part: 'audit', state: 'good', words: 'All entries are delivered or wait.' }];
}

function namesOf<Name extends string>(all: readonly Readonly<Record<Name, string>>[], field: Name): string {
  return all.map((one) => one[field]).join(', ');
}
