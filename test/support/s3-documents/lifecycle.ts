import * as fc from 'fast-check';
import {
  type LifecycleExpiration,
  type LifecycleFilter,
  type LifecycleRule,
  writeLifecycle,
} from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import type { NoncurrentTransition, Transition } from '../../../protocol/s3/lifecycle/lifecycle-transitions.ts';
import { days, defined, filterTags, flag, idText, keyText, maybe, midnight } from './texts.ts';

const tier = fc.constantFrom('COLD', 'GLACIER', 'a<b');
const keep = fc.integer({ min: 1, max: 100 });
const size = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000_000 }));

const filter: fc.Arbitrary<LifecycleFilter> = fc.oneof(
  fc.record({ deprecated: fc.constant(true as const), prefix: fc.oneof(fc.constant(''), keyText) }),
  defined<LifecycleFilter>({
    deprecated: fc.constant(undefined),
    prefix: maybe(keyText),
    tags: fc.constant(undefined),
    greaterThan: fc.constant(undefined),
    lessThan: fc.constant(undefined),
  }),
  defined<LifecycleFilter>({
    deprecated: fc.constant(undefined),
    prefix: maybe(keyText),
    tags: maybe(filterTags),
    greaterThan: maybe(size),
    lessThan: maybe(size.map((bytes) => bytes + 1_000_001)),
  }),
);

const expiration: fc.Arbitrary<LifecycleExpiration> = fc.oneof(
  defined<Extract<LifecycleExpiration, { days: number }>>({ days, allVersions: flag }),
  defined<Extract<LifecycleExpiration, { date: number }>>({ date: midnight, allVersions: flag }),
  fc.constant({ loneMarkers: true as const }),
);

const noncurrent: fc.Arbitrary<NonNullable<LifecycleRule['noncurrent']>> = fc.oneof(
  fc.record({ days: fc.constant(0), keep }),
  defined<NonNullable<LifecycleRule['noncurrent']>>({ days, keep: maybe(keep) }),
);

const transition: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({ days: fc.oneof(fc.constant(0), days), tier }),
  fc.record({ date: midnight, tier }),
);

const noncurrentTransition = defined<NoncurrentTransition>({
  days: fc.oneof(fc.constant(0), days),
  keep: maybe(keep),
  tier,
});

/** The header of the request has it, not the document. */
type WrittenRule = Omit<LifecycleRule, 'largeOnly'>;

const rule: fc.Arbitrary<WrittenRule> = defined<WrittenRule>({
  id: idText,
  enabled: fc.boolean(),
  filter,
  expiration: maybe(expiration),
  noncurrent: maybe(noncurrent),
  abortUploadsDays: maybe(days),
  markerDays: maybe(days),
  transition: maybe(transition),
  noncurrentTransition: maybe(noncurrentTransition),
})
  .map(legal)
  .filter(hasAction);

/** Takes away and moves what the server refuses together. */
function legal(written: WrittenRule): WrittenRule {
  const {
    filter: of,
    expiration: expires,
    noncurrent: old,
    transition: moves,
    noncurrentTransition: oldMoves,
  } = written;
  const isNarrow = of.tags !== undefined || of.greaterThan !== undefined || of.lessThan !== undefined;
  const { abortUploadsDays, markerDays, ...rest } = written;
  const next: { -readonly [Field in keyof WrittenRule]: WrittenRule[Field] } = {
    ...rest,
    ...(!isNarrow && { abortUploadsDays, markerDays }),
  };
  if (isNarrow && expires !== undefined && 'loneMarkers' in expires) delete next.expiration;
  if (next.abortUploadsDays === undefined) delete next.abortUploadsDays;
  if (next.markerDays === undefined) delete next.markerDays;
  if (of.deprecated === true && old?.keep !== undefined) {
    if (old.days === 0) delete next.noncurrent;
    else next.noncurrent = { days: old.days };
  }
  if (expires !== undefined && 'days' in expires && moves !== undefined && 'days' in moves) {
    next.expiration = { ...expires, days: moves.days + (expires.days % 50) + 1 };
  }
  if (next.noncurrent !== undefined && next.noncurrent.days > 0 && oldMoves !== undefined) {
    next.noncurrent = { ...next.noncurrent, days: oldMoves.days + (next.noncurrent.days % 50) + 1 };
  }
  return next;
}

function hasAction(written: WrittenRule): boolean {
  const { expiration: expires, noncurrent: old, abortUploadsDays, markerDays } = written;
  const { transition: moves, noncurrentTransition: oldMoves } = written;
  return [expires, old, abortUploadsDays, markerDays, moves, oldMoves].some((action) => action !== undefined);
}

/** The rules of every lifecycle that the server accepts: all fields in all legal combinations. */
export const lifecycleRules: fc.Arbitrary<readonly LifecycleRule[]> = fc.uniqueArray(rule, {
  minLength: 1,
  maxLength: 4,
  selector: ({ id }) => id,
});

/** The document of such rules, as GetBucketLifecycleConfiguration answers it. */
export const lifecycleDocuments: fc.Arbitrary<string> = lifecycleRules.map(writeLifecycle);
