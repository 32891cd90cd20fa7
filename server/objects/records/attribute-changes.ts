import { isDeepStrictEqual } from 'node:util';
import { type Attribute, type AttributeChanges, changesOf } from './change-times.ts';
import type { ObjectRecord } from './object-record.ts';
import { compareInstants, millisecondsAt } from '../contract/instant.ts';
import type { ChangeTimes } from '../contract/objects.ts';

/** What each attribute is compared by. */
const attributes: Readonly<Record<Attribute, (record: ObjectRecord) => unknown>> = {
  tags: ({ tags = {} }) => tags,
  retention: ({ lock = {} }) => [lock.mode, lock.until],
  legalHold: ({ lock = {} }) => lock.legalHold ?? false,
  metadata: ({ headers }) => headers,
};

const names = Object.keys(attributes) as Attribute[];

/** Adds the time of a change to each attribute that it has changed, and to the one that the client has set again. */
export function withChanges(before: ObjectRecord, after: ObjectRecord, at: number, sets?: Attribute): ObjectRecord {
  const changed = names.filter(
    (name) => name === sets || !isDeepStrictEqual(attributes[name](before), attributes[name](after)),
  );
  if (changed.length === 0) return after;
  const times = changesOf(before);
  // A change is newer than the one that it follows, also where another server with a fast clock made that one.
  const ofChange = (name: Attribute) => Math.max(at, millisecondsAt(times[name]) + 1);
  return withTimes(after, { ...times, ...Object.fromEntries(changed.map((name) => [name, ofChange(name)])) });
}

/** Gives a record the times of its attributes. Those that are as old as the version are left out. */
export function withTimes({ changes: _changes, ...record }: ObjectRecord, times: ChangeTimes): ObjectRecord {
  const changes = changesAfter(record.modified, times);
  return changes === undefined ? record : { ...record, changes };
}

/** Returns the times of what changed on another server after it made the version; undefined where nothing did. */
export function changesAfter(modified: number, times: ChangeTimes): AttributeChanges | undefined {
  const later = names.filter((name) => compareInstants(times[name] ?? 0, modified) > 0);
  return later.length === 0 ? undefined : given(times, later);
}

function given(times: ChangeTimes, later: readonly Attribute[]): AttributeChanges {
  return Object.fromEntries(
    later.flatMap((name) => {
      const at = times[name];
      return at === undefined ? [] : [[name, { at }]];
    }),
  );
}
