import { decodeKey } from './keys.ts';
import type { BlobId } from './blob-store.ts';
import type { Batch, Key } from './record-store.ts';
import { isPacked } from './packed-id.ts';
import { type Slot, slotOf } from './slot.ts';
import { tierOf } from './tiered-id.ts';

/** A slot has the records of its buckets. What belongs to no bucket is in the place of the deployment. */
type RecordPlace = Slot | 'deployment';

type PlaceRule = (parts: readonly Buffer[]) => RecordPlace;

const ofDeployment: PlaceRule = () => 'deployment';
const ofBucket: PlaceRule = ([, bucket]) => slotOf(String(bucket));
/** The id of an upload, or of a blob, has the slot after 6 bytes of time. */
const ofId: PlaceRule = ([, id]) => slotAt(String(id), 12);
/** Bodies of many buckets share a segment. The id of a body in a tier has the slot after `fe` and the number of the tier. */
const ofBlob: PlaceRule = (parts) => {
  const blob = String(parts[1]) as BlobId;
  if (isPacked(blob)) return 'deployment';
  return tierOf(blob) === undefined ? ofId(parts) : slotAt(blob, 10);
};
/** The last part ends with the slot. */
const ofUnique: PlaceRule = (parts) => parts.at(-1)?.toString('hex').slice(-4) as Slot;

/** Ids that were made before slots have random bytes in their place: it has nothing to do with their bucket. */
function slotAt(id: string, start: number): Slot {
  return id.slice(start, start + 4) as Slot;
}

/** The kinds of records, by the first part of their keys. */
const rules: Readonly<Record<string, PlaceRule>> = {
  'access-log': ofBucket,
  account: ofDeployment,
  b: ofBucket,
  background: ofDeployment,
  'batch-job': ofDeployment,
  c: ofBlob,
  d: ofBucket,
  g: ofBlob,
  hold: ofDeployment,
  i: ofBucket,
  inventory: ofBucket,
  'inventory-state': ofBucket,
  k: ofDeployment,
  l: ofBucket,
  lifecycle: ofBucket,
  live: ofDeployment,
  m: ofBucket,
  metrics: ofDeployment,
  o: ofBucket,
  outbox: ofUnique,
  'outbox-dropped': ofDeployment,
  'outbox-held': ofUnique,
  'outbox-held-count': ofDeployment,
  'outbox-retry': ofDeployment,
  'outbox-state': ofDeployment,
  p: ofId,
  promotions: ofBucket,
  q: ofId,
  quota: ofBucket,
  'quota-parts': ofId,
  r: ofBlob,
  'replication-proxied': ofDeployment,
  'replication-stats': ofDeployment,
  restore: ofUnique,
  restored: ofUnique,
  s: ofDeployment,
  scrub: ofDeployment,
  segments: ofDeployment,
  'support-task': ofDeployment,
  system: ofDeployment,
  t: ofBlob,
  'tier-removal': ofBlob,
  transition: ofUnique,
  u: ofBucket,
  usage: ofDeployment,
  v: ofBucket,
  w: ofBucket,
  x: ofBlob,
};

/** The kinds of records that are reserved (docs/decisions/0082-format-4.md). */
const reserved: Readonly<Record<string, PlaceRule>> = {
  backup: ofDeployment,
  change: ofBucket,
  'moved-out': ofBucket,
  table: ofBucket,
};

/**
 * Returns the place of a record, from its key alone. One database has all places today. One day several have them, and each commit is made in one
 * of them (docs/decisions/0082-format-4.md). Throws `RangeError` for a kind of record that has no place yet.
 */
export function placeOfKey(key: Key): RecordPlace {
  const parts = decodeKey(key);
  const kind = String(parts[0]);
  const rule = ruleOf(rules, kind) ?? ruleOf(reserved, kind);
  if (rule === undefined) throw new RangeError(`the kind of records "${kind}" has no place: add it to places.ts`);
  return rule(parts);
}

function ruleOf(all: Readonly<Record<string, PlaceRule>>, kind: string): PlaceRule | undefined {
  return Object.hasOwn(all, kind) ? all[kind] : undefined;
}

/** A commit whose records are in two places. */
interface CrossingCommit {
  /** The kinds of the records that are apart from those of `beside`. */
  readonly apart: readonly string[] | 'any';
  readonly beside: readonly string[] | 'any';
  /** True where the commit only expects what is apart. */
  readonly onlyExpected?: true;
  /** Only commits that change a record of this kind. */
  readonly changing?: string;
  /** How it becomes commits in one place each. */
  readonly split: string;
}

/** The kinds of records whose keys have an id with a slot in it. */
const withId = [
  'c',
  'outbox',
  'p',
  'q',
  'quota-parts',
  'r',
  'restore',
  'restored',
  't',
  'tier-removal',
  'transition',
  'x',
];

/** What a write, a removal or a move of a version changes and expects within the slot of its bucket. */
const ofVersion = ['b', 'd', 'i', 'l', 'm', 'o', 'promotions', 'quota', 'u', 'v', 'w', ...withId];

const removed = ['c', 'g', 'packed c', 'packed x', 'x'];
const tombstones = ['packed t', 't'];
const progress = ['inventory-state', 'lifecycle'];

/**
 * The commits that cross, until they are split. The list may only shrink: `test/places` uses each entry.
 *
 * More will cross once a bucket is spread itself, by ranges of its keys: each write expects the bucket, and adds to its counters. Then each range has a
 * copy of the record of the bucket, which a change marks first and a restart brings up to date, and counters of its own, which readers add up.
 */
export const crossingCommits = {
  lease: {
    apart: ['live lease'],
    beside: 'any',
    onlyExpected: true,
    split:
      'A new holder of the lease writes its term to each database before it works there. A commit expects the term of its own database.',
  },
  keyUse: {
    apart: ['k use'],
    beside: ofVersion,
    onlyExpected: true,
    split:
      'The removal of a key marks the key in each database before it looks for what the key seals; a restart marks the others. A commit expects the mark of its own database.',
  },
  segment: {
    apart: ['packed c', 'packed r', 'packed t', 'packed x'],
    beside: ofVersion,
    split:
      'The body is claimed first, with a mark that names the version, and then the version is committed. A removal commits the version first, with a mark that names the body. A restart looks at the version of each mark, and keeps or queues the body: without a mark an owner record keeps its body for ever.',
  },
  removals: {
    apart: removed,
    beside: removed,
    split: 'Each removal stands alone: a commit for each place. What a kill leaves out is still queued.',
  },
  tombstones: {
    apart: tombstones,
    beside: tombstones,
    split: 'Each tombstone is forgotten by itself: a commit for each place.',
  },
  events: {
    apart: ['outbox', 'outbox-held'],
    beside: ['outbox', 'outbox-held'],
    split: 'Each event stands alone: a commit for each place. What a kill leaves out is delivered again.',
  },
  progress: {
    apart: progress,
    beside: progress,
    split: 'The progress in each bucket is forgotten by itself: a commit for each place.',
  },
  copy: {
    apart: 'any',
    beside: 'any',
    changing: 'system copy',
    split:
      'The records are committed first, in each place, and then how far the copy is. A restart copies the last ones again.',
  },
  idsMadeBefore: {
    apart: withId,
    beside: ofVersion,
    split:
      'The records of such an id move to the slot of their bucket first: a mark on the bucket names the last one that was moved, and a restart goes on behind it.',
  },
} as const satisfies Readonly<Record<string, CrossingCommit>>;

export type CrossingName = keyof typeof crossingCommits;

/** A record of a commit: its kind, its place, and whether the commit changes it. */
interface Touched {
  readonly kind: string;
  readonly place: RecordPlace;
  readonly isChanged: boolean;
}

/**
 * Returns the entries of the list of crossing commits that a batch needs: none for a batch in one place. Throws for one that crosses and is not on the
 * list. Ids of before are looked for only where `idsMadeBefore` says so, since a wrong slot looks the same.
 */
export function crossingsOf(batch: Batch, { idsMadeBefore = false } = {}): ReadonlySet<CrossingName> {
  const touched = touchedBy(batch);
  const changed = new Set(touched.filter(({ isChanged }) => isChanged).map(({ kind }) => kind));
  const names = (Object.keys(crossingCommits) as CrossingName[]).filter((name) => {
    const { changing }: CrossingCommit = crossingCommits[name];
    return (name !== 'idsMadeBefore' || idsMadeBefore) && (changing === undefined || changed.has(changing));
  });
  const used = new Set<CrossingName>();
  for (const [index, one] of touched.entries()) {
    for (const other of touched.slice(0, index)) {
      if (one.place === other.place) continue;
      const name = names.find(
        (found) => allows(crossingCommits[found], one, other) || allows(crossingCommits[found], other, one),
      );
      if (name === undefined) throw new Error(crossingText(one, other));
      used.add(name);
    }
  }
  return used;
}

function touchedBy({ expect = [], put = [], add = [], delete: deleted = [] }: Batch): readonly Touched[] {
  const all = new Map<string, Touched>();
  const touch = (key: Key, isChanged: boolean) => {
    const one = { kind: shownKind(key), place: placeOfKey(key), isChanged };
    all.set(`${one.kind}/${one.place}/${isChanged}`, one);
  };
  for (const { key } of expect) touch(key, false);
  for (const { key } of [...put, ...add]) touch(key, true);
  for (const key of deleted) touch(key, true);
  return [...all.values()];
}

/** Adds the second part of a key where its kind has several, and says which bodies are in segments. */
function shownKind(key: Key): string {
  const [kind, second] = decodeKey(key).map(String);
  if (kind === 'k' || kind === 'live' || kind === 'system') return `${kind} ${second}`;
  return rules[String(kind)] === ofBlob && placeOfKey(key) === 'deployment' && kind !== 'g'
    ? `packed ${kind}`
    : String(kind);
}

function allows({ apart, beside, onlyExpected }: CrossingCommit, one: Touched, other: Touched): boolean {
  if (onlyExpected === true && one.isChanged) return false;
  return (apart === 'any' || apart.includes(one.kind)) && (beside === 'any' || beside.includes(other.kind));
}

function crossingText(one: Touched, other: Touched): string {
  const shown = [one, other].map(
    ({ kind, place, isChanged }) =>
      `${isChanged ? 'changes' : 'expects'} "${kind}" in ${place === 'deployment' ? 'the place of the deployment' : `slot ${place}`}`,
  );
  return `a commit ${shown.join(' and ')}: make a commit for each place, with a mark that a restart finishes (crossingCommits in places.ts)`;
}
