import { backendKeyRecord, checkBackendKey, checkSealedForm, isPlain } from '../../encryption/backend-key.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { decodeRecord, parseRecord } from '../../objects/records/record-format.ts';
import { decodeCounter } from '../../store/commits.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { VerifyContext } from './check-object.ts';
import { type Issue, shownKey } from './issue.ts';
import { entries } from './object-records.ts';

/** Records in the common format that hold settings, states, counts and work, and no object. */
const commonFormat: readonly (readonly string[])[] = [
  ['access-log'],
  ['account'],
  ['background'],
  ['batch-job'],
  ['g'],
  ['inventory'],
  ['inventory-state'],
  ['k', 'use'],
  ['lifecycle'],
  ['metrics'],
  ['outbox'],
  ['outbox-held'],
  ['outbox-state'],
  ['replication-stats'],
  ['restore'],
  ['restored'],
  ['scrub'],
  ['segments'],
  ['system', 'digests'],
  ['system', 'pause'],
  ['system', 'reseal'],
  ['tier-removal'],
  ['transition'],
  // Servers drop an unreadable progress of a count and begin again.
  ['usage', 'buckets'],
  ['usage', 'day'],
  ['usage', 'last'],
];

const counters: readonly (readonly string[])[] = [
  ['outbox-dropped'],
  ['outbox-held-count'],
  ['promotions'],
  ['quota-parts'],
  ['replication-proxied'],
  ['usage', 'asked'],
];

/** Sealed records whose plain values are JSON. */
const jsonPlaces: ReadonlySet<string> = new Set(['iam', 'idp', 'tier']);

/**
 * Checks that records which hold no object can be read: identities, settings, counts, states of tasks, and work that waits. What is sealed opens only with its key, which this
 * check does not have: it sees a record that is cut, or that no server wrote, and not one that was changed inside.
 */
export async function* checkValues(context: VerifyContext): AsyncGenerator<Issue> {
  for (const prefix of commonFormat) {
    yield* unreadable(context, within(...prefix), ({ key, value }) => void decodeRecord(value, shownKey(key)));
  }
  for (const prefix of counters) yield* unreadable(context, within(...prefix), checkCounter);
  yield* unreadable(context, within('quota'), checkQuota);
  yield* unreadable(context, within('s'), checkSealed);
  const backend = await context.records.get(backendKeyRecord);
  if (backend !== undefined) yield* issueOf(context, backend, ({ value }) => checkBackendKey(value));
}

function checkCounter({ key, value }: Entry): void {
  try {
    decodeCounter(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new StoreError('unreadable-record', `the record of ${shownKey(key)} is damaged`, { cause });
  }
}

/** A bucket has a counter, and the progress of its first count while that is under way. */
function checkQuota(entry: Entry): void {
  if (String(decodeKey(entry.key)[3]) === 'count') decodeRecord(entry.value, shownKey(entry.key));
  else checkCounter(entry);
}

function checkSealed({ key, value }: Entry): void {
  const record = shownKey(key);
  checkSealedForm(value, record);
  if (isPlain(value) && jsonPlaces.has(String(decodeKey(key)[1]))) parseRecord(value, 1, record);
}

async function* unreadable(
  context: VerifyContext,
  range: ReturnType<typeof within>,
  check: (entry: Entry) => void,
): AsyncGenerator<Issue> {
  for await (const entry of entries(context.records, range)) {
    context.signal?.throwIfAborted();
    yield* issueOf(context, entry, check);
  }
}

async function* issueOf(
  { records }: VerifyContext,
  entry: Entry,
  check: (entry: Entry) => void,
): AsyncGenerator<Issue> {
  try {
    check(entry);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // A record that was removed meanwhile is no loss.
    if ((await records.get(entry.key)) === undefined) return;
    yield { kind: 'unreadable-record', record: shownKey(entry.key), message: error.message };
  }
}
