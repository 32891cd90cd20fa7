import { endOf } from '../../store/keys.ts';
import { isSameCount, type RecordCount, RecordTally } from '../../store/record-counts.ts';
import { type RecordStore, scanPages } from '../../store/record-store.ts';
import { type Issue, shownKey } from './issue.ts';

/** A group that changes while it is read is read again this many times. */
const ATTEMPTS = 3;

type Counts = ReadonlyMap<string, RecordCount>;

const ofOlderServer = 'an older server wrote some of these records, and no server has counted them since';

/**
 * Compares all records with the counts that were written in their commits. Yields the groups in which records are missing, or of an earlier
 * moment. Returns undefined, or the reason why it cannot be told: there are no counts, or a group changes all the time.
 */
export async function* compareCounts(
  records: RecordStore,
  signal?: AbortSignal,
): AsyncGenerator<Issue, string | undefined> {
  if (records.counted !== undefined) {
    const counted = await records.counted();
    if (counted === undefined) return ofOlderServer;
    if ('never' in counted) return `${counted.never} has no counts of its records`;
    yield* differences(byName(counted.counts), byName(counted.found));
    return undefined;
  }
  const before = await countsOf(records);
  if (before === undefined) return ofOlderServer;
  const found = await tallied(records, { start: Buffer.of(0), end: endOf(Buffer.alloc(0)) }, signal);
  const after = await countsOf(records);
  if (after === undefined) return ofOlderServer;
  let changing: string | undefined;
  for (const name of new Set([...before.keys(), ...after.keys(), ...found.keys()])) {
    if (isSame(before.get(name), after.get(name)) && isSame(after.get(name), found.get(name))) continue;
    const issue = await issueOf(records, name, signal);
    if (issue === 'changing') changing = `the records ${shownKey(Buffer.from(name, 'latin1'))} changed all the time`;
    else if (issue !== undefined) yield issue;
  }
  return changing;
}

function* differences(counts: Counts, found: Counts): Generator<Issue> {
  for (const name of new Set([...counts.keys(), ...found.keys()])) {
    const [stored, got] = [counts.get(name), found.get(name)];
    if (!isSame(stored, got)) yield lostRecords(Buffer.from(name, 'latin1'), stored, got);
  }
}

function lostRecords(group: Buffer, stored: RecordCount | undefined, found: RecordCount | undefined): Issue {
  return { kind: 'lost-records', record: shownKey(group), message: messageOf(group, stored, found) };
}

async function countsOf(records: RecordStore): Promise<Counts | undefined> {
  const counts = await records.counts?.();
  return counts && byName(counts);
}

function byName(counts: readonly RecordCount[]): Counts {
  return new Map(counts.map((count) => [count.group.toString('latin1'), count]));
}

/** Compares one group, which may have changed while all were read. */
async function issueOf(
  records: RecordStore,
  name: string,
  signal?: AbortSignal,
): Promise<Issue | 'changing' | undefined> {
  const start = Buffer.from(name, 'latin1');
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = (await countsOf(records))?.get(name);
    const found = (await tallied(records, { start, end: endOf(start) }, signal)).get(name);
    const after = (await countsOf(records))?.get(name);
    if (!isSame(before, after)) continue;
    return isSame(after, found) ? undefined : lostRecords(start, after, found);
  }
  return 'changing';
}

async function tallied(
  records: RecordStore,
  range: { readonly start: Buffer; readonly end: Buffer },
  signal?: AbortSignal,
): Promise<Counts> {
  const tally = new RecordTally();
  for await (const page of scanPages(records, range)) {
    signal?.throwIfAborted();
    for (const item of page) if (item.kind === 'entry') tally.add(item.key, item.revision, item.value.length);
  }
  return byName(tally.counts());
}

const none: Omit<RecordCount, 'group'> = { records: 0, bytes: 0, sums: [0, 0] };

function isSame(one: RecordCount | undefined, other: RecordCount | undefined): boolean {
  return isSameCount(one ?? none, other ?? none);
}

function messageOf(group: Buffer, stored: RecordCount | undefined, found: RecordCount | undefined): string {
  const [expected, got] = [stored?.records ?? 0, found?.records ?? 0];
  const what = `the records ${shownKey(group)}`;
  if (expected === got)
    return `${what} are ${got} as they should be, and some of them are not those that were committed last`;
  const difference = got < expected ? `${expected - got} are lost` : `${got - expected} were deleted before`;
  return `${what} should be ${expected}, and are ${got}: ${difference}`;
}
