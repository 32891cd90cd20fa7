import { compareInstants, type Instant } from '../contract/instant.ts';
import type { ObjectHeaders, ObjectTags, Retention } from '../contract/object-layer.ts';

/** The value after a change, and the time of that. */
interface Dated<T> {
  readonly value: T;
  readonly at: Instant;
}

/** The attributes of a version that change by themselves. A legal hold that was never set is undefined. */
export interface DatedAttributes {
  readonly tags: Dated<ObjectTags>;
  readonly retention: Dated<Retention | undefined>;
  readonly legalHold: Dated<boolean | undefined>;
  readonly metadata: Dated<ObjectHeaders>;
}

/**
 * Returns the attributes that two servers agree on, whichever of them asks and however often: each attribute is the greater of the two in a
 * total order, so that joining is commutative, associative and idempotent.
 *
 * | attribute      | the greater one                                                                                             |
 * | -------------- | ----------------------------------------------------------------------------------------------------------- |
 * | tags, metadata | the newer change; of the same time the greater text                                                          |
 * | legal hold     | the newer change; of the same time ON before OFF                                                             |
 * | retention      | COMPLIANCE until it ends, of two the longer one; then the newer change; of the same time the stronger one    |
 */
export function joinAttributes(one: DatedAttributes, other: DatedAttributes): DatedAttributes {
  return {
    tags: greater(one.tags, other.tags, compareText),
    retention: greaterRetention(one.retention, other.retention),
    legalHold: greater(one.legalHold, other.legalHold, (first, second) => strengthOf(first) - strengthOf(second)),
    metadata: greater(one.metadata, other.metadata, compareText),
  };
}

function greater<T>(one: Dated<T>, other: Dated<T>, compare: (one: T, other: T) => number): Dated<T> {
  return (compareInstants(one.at, other.at) || compare(one.value, other.value)) < 0 ? other : one;
}

/** The text does not depend on the order of the fields. */
function compareText(one: object, other: object): number {
  const [first, second] = [textOf(one), textOf(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function textOf(value: object): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

function strengthOf(legalHold: boolean | undefined): number {
  return legalHold === undefined ? 0 : legalHold ? 2 : 1;
}

type DatedRetention = DatedAttributes['retention'];

/** Nothing replaces COMPLIANCE before its end, so that its end stands for its time. */
function greaterRetention(one: DatedRetention, other: DatedRetention): DatedRetention {
  const order =
    compareInstants(reignOf(one), reignOf(other)) ||
    modeOf(one) - modeOf(other) ||
    endOf(one) - endOf(other) ||
    compareInstants(one.at, other.at);
  return order < 0 ? other : one;
}

/**
 * Returns the GOVERNANCE that the join of two retentions loses to COMPLIANCE although it is newer and ends later: a version has one retention.
 * Undefined where the join loses nothing that would still be in force.
 */
export function outlasting(one: DatedRetention, other: DatedRetention): DatedRetention | undefined {
  const winner = greaterRetention(one, other);
  const loser = winner === one ? other : one;
  const isLost =
    winner.value?.mode === 'COMPLIANCE' &&
    loser.value?.mode === 'GOVERNANCE' &&
    compareInstants(loser.at, winner.at) > 0 &&
    endOf(loser) > endOf(winner);
  return isLost ? loser : undefined;
}

function reignOf({ value, at }: DatedRetention): Instant {
  return value?.mode === 'COMPLIANCE' ? value.until.getTime() : at;
}

function modeOf({ value }: DatedRetention): number {
  return value === undefined ? 0 : value.mode === 'GOVERNANCE' ? 1 : 2;
}

function endOf({ value }: DatedRetention): number {
  return value?.until.getTime() ?? 0;
}
