import { messageOf } from '../../platform/errors/system-error.ts';
import { eventOfHeld, groupOfEvent, outboxKeys } from '../objects/events/outbox.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce, decodeCounter } from '../store/commits.ts';
import { decodeKey, key, within } from '../store/keys.ts';
import { type Entry, type Key, type RecordStore, scanPages } from '../store/record-store.ts';

/** Why a target has refused an event. Its event stays in the queue. */
interface HeldRecord {
  /** The time of the first refusal, in milliseconds since 1970. */
  readonly since: number;
  /** The first refusal. */
  readonly error: string;
  /** How often an administrator asked for another attempt. */
  readonly retries?: number;
}

/** A held event with its record. */
export interface StoredHeld {
  readonly id: string;
  readonly event: Entry;
  readonly record: HeldRecord;
  /** The revision of the record. */
  readonly revision: number;
}

/** Events that one commit changes. More would hold up the commits of requests. */
const changedAtOnce = 128;
/** Attempts to change one event that others change too. */
const attempts = 8;

export function encodeHeld(record: HeldRecord): Buffer {
  return encodeRecord(record);
}

/** A record that is damaged keeps no event from being held. */
export function decodeHeld({ key: recordKey, value }: Entry): HeldRecord {
  try {
    return decodeRecord(value, `the held event ${idOfEvent(eventOfHeld(recordKey))}`) as HeldRecord;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { since: 0, error: messageOf(error) };
  }
}

/** Returns the name by which administrators know an event of a target: 48 hexadecimal digits. */
function idOfEvent(event: Key): string {
  return `${groupOfEvent(event)}${decodeKey(event)[3]?.toString('hex')}`;
}

/** Returns the key of an event by its name. Undefined for a name that no event can have. */
function eventOfId(target: string, id: string): Key | undefined {
  if (!/^[0-9a-f]{48}$/.test(id)) return undefined;
  return key('outbox', target, Buffer.from(id.slice(0, 16), 'hex'), Buffer.from(id.slice(16), 'hex'));
}

/**
 * Yields the held events of a target in the order of their names, after one of them. Records whose event is gone are left out: the event was
 * delivered or dropped.
 */
export async function* heldEvents(
  records: Pick<RecordStore, 'get' | 'scan' | 'scanPages'>,
  target: string,
  after?: string,
): AsyncGenerator<StoredHeld> {
  const range = within('outbox-held', target);
  const last = after === undefined ? undefined : eventOfId(target, after);
  const start = last === undefined ? range.start : Buffer.concat([outboxKeys.held(last), Buffer.from([0])]);
  for await (const page of scanPages(records as RecordStore, { ...range, start, limit: 1_000 })) {
    for (const item of page) {
      if (item.kind !== 'entry') continue;
      const event = await records.get(eventOfHeld(item.key));
      if (event === undefined) continue;
      yield { id: idOfEvent(event.key), event, record: decodeHeld(item), revision: item.revision };
    }
  }
}

/** What an administrator asked of held events. */
interface HeldChange {
  /** The events that were changed. */
  readonly changed: number;
  /** The names that are no held events: they were delivered or dropped meanwhile, or never held. */
  readonly unknown: readonly string[];
}

/** The names of held events, or all of a target. */
type HeldChoice = readonly string[] | 'all';

interface HeldChangeOptions {
  readonly chosen: HeldChoice;
  readonly random: (size: number) => Buffer;
  /** Is called with each event that was changed. */
  readonly onChanged?: (event: Entry) => void;
}

/** Asks the server that delivers to try held events again at once. They stay held until the target has taken them. */
export async function retryHeld(records: RecordStore, target: string, options: HeldChangeOptions): Promise<HeldChange> {
  const { random } = options;
  const change = await changeEach(records, target, options, async (held) => {
    const put = held.map(({ event, record }) => ({
      key: outboxKeys.held(event.key),
      value: encodeHeld({ ...record, retries: (record.retries ?? 0) + 1 }),
    }));
    // An event that was delivered meanwhile gets no new record.
    const expect = held.map(({ event, revision }) => expectation(outboxKeys.held(event.key), revision));
    return (await commitOnce(records, { expect, put }, random)).kind === 'committed';
  });
  if (change.changed === 0) return change;
  const value = encodeRecord({ token: random(8).toString('hex') });
  await commitOnce(records, { put: [{ key: outboxKeys.retry(target), value }] }, random);
  await count(records, target, 'retried', change.changed, random);
  return change;
}

/** Drops held events. The later events of their objects are delivered then. */
export async function dropHeld(records: RecordStore, target: string, options: HeldChangeOptions): Promise<HeldChange> {
  const { random } = options;
  const change = await changeEach(records, target, options, async (held) => {
    const expect = held.map(({ event }) => expectation(event.key, event.revision));
    const keys = held.flatMap(({ event }) => [event.key, outboxKeys.held(event.key)]);
    return (await commitOnce(records, { expect, delete: keys, freesSpace: true }, random)).kind === 'committed';
  });
  await count(records, target, 'dropped', change.changed, random);
  return change;
}

/** Returns how many held events administrators dropped and let be tried again. */
export async function heldCounts(records: Pick<RecordStore, 'get'>, target: string) {
  const read = async (what: 'dropped' | 'retried') =>
    Number(decodeCounter((await records.get(outboxKeys.heldCount(target, what)))?.value));
  return { dropped: await read('dropped'), retried: await read('retried') };
}

function expectation(recordKey: Key, revision: number) {
  return { kind: 'revision' as const, key: recordKey, revision };
}

async function count(
  records: RecordStore,
  target: string,
  what: 'dropped' | 'retried',
  changed: number,
  random: (size: number) => Buffer,
): Promise<void> {
  if (changed === 0) return;
  await commitOnce(records, { add: [{ key: outboxKeys.heldCount(target, what), delta: BigInt(changed) }] }, random);
}

/** Changes held events, many at a time. Those of a commit that conflicts are changed one by one. */
async function changeEach(
  records: RecordStore,
  target: string,
  { chosen, onChanged }: Pick<HeldChangeOptions, 'chosen' | 'onChanged'>,
  change: (held: readonly StoredHeld[]) => Promise<boolean>,
): Promise<HeldChange> {
  const unknown: string[] = [];
  let changed = 0;
  let gathered: StoredHeld[] = [];
  const noted = (held: readonly StoredHeld[]) => {
    changed += held.length;
    for (const { event } of held) onChanged?.(event);
  };
  /** Another administrator may change the event too: it is read again for each attempt. */
  const changeAlone = async (id: string) => {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const [found] = await Array.fromAsync(heldOf(records, target, [id], unknown));
      if (found === undefined) return;
      if (await change([found])) return noted([found]);
    }
    throw new Error(`the held event ${id} of ${target} was changed by others again and again: repeat the call`);
  };
  const flush = async () => {
    const held = gathered;
    gathered = [];
    if (held.length === 0) return;
    if (await change(held)) noted(held);
    else {
      for (const { id } of held) await changeAlone(id);
    }
  };
  for await (const held of chosen === 'all' ? heldEvents(records, target) : heldOf(records, target, chosen, unknown)) {
    gathered.push(held);
    if (gathered.length >= changedAtOnce) await flush();
  }
  await flush();
  return { changed, unknown };
}

async function* heldOf(
  records: RecordStore,
  target: string,
  ids: readonly string[],
  unknown: string[],
): AsyncGenerator<StoredHeld> {
  for (const id of new Set(ids)) {
    const eventKey = eventOfId(target, id);
    const [event, held] =
      eventKey === undefined ? [] : await Promise.all([records.get(eventKey), records.get(outboxKeys.held(eventKey))]);
    if (event === undefined || held === undefined) unknown.push(id);
    else yield { id, event, record: decodeHeld(held), revision: held.revision };
  }
}
