import type { LifecycleFilter, LifecycleRule } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import type { LifecycleRuleFields } from '../../../api/bucket-fields.ts';
import { quantityValue } from '../../../api/volume-fields.ts';

/** A rule without its id, which is not a part of what it does. */
export type ComparableLifecycleRule = Omit<LifecycleRule, 'id'>;

/** Returns the rules of a resource in the form of those that are found. */
export function wantedLifecycle(rules: readonly LifecycleRuleFields[]): readonly ComparableLifecycleRule[] {
  return inOrder(rules.map(wantedRule));
}

/** Rules have no order. */
export function comparableLifecycle(rules: readonly LifecycleRule[]): readonly ComparableLifecycleRule[] {
  return inOrder(
    rules.map(({ id: _id, filter: { deprecated: _deprecated, ...filter }, ...rule }) => ({
      ...rule,
      filter: plainFilter(filter),
    })),
  );
}

function inOrder(rules: readonly ComparableLifecycleRule[]): readonly ComparableLifecycleRule[] {
  return rules.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

/** The order of fields does not count. */
function sortKey(rule: ComparableLifecycleRule): string {
  return JSON.stringify([
    rule.filter.prefix,
    rule.filter.tags && Object.entries(rule.filter.tags).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    rule.filter.greaterThan,
    rule.filter.lessThan,
    rule.expiration && Object.entries(rule.expiration),
    rule.noncurrent && [rule.noncurrent.days, rule.noncurrent.keep],
    rule.markerDays,
    rule.abortUploadsDays,
    rule.transition?.tier,
    rule.noncurrentTransition && [rule.noncurrentTransition.tier, rule.noncurrentTransition.days],
    rule.enabled,
  ]);
}

function wantedRule(rule: LifecycleRuleFields): ComparableLifecycleRule {
  const { noncurrentExpiration, noncurrentTransition, deleteMarkerDays, abortUploadsDays } = rule;
  return {
    enabled: true,
    filter: plainFilter({
      prefix: rule.prefix,
      tags: rule.tags,
      greaterThan: bytesOf(rule.largerThan),
      lessThan: bytesOf(rule.smallerThan),
    }),
    ...(rule.expiration && { expiration: wantedExpiration(rule.expiration) }),
    ...(noncurrentExpiration && {
      noncurrent: { days: noncurrentExpiration.days ?? 0, ...keepOf(noncurrentExpiration.keep) },
    }),
    ...(deleteMarkerDays !== undefined && { markerDays: deleteMarkerDays }),
    ...(abortUploadsDays !== undefined && { abortUploadsDays }),
    ...(rule.transition && { transition: wantedTransition(rule.transition) }),
    ...(noncurrentTransition && {
      noncurrentTransition: {
        days: noncurrentTransition.days,
        ...keepOf(noncurrentTransition.keep),
        tier: noncurrentTransition.tier,
      },
    }),
  };
}

function keepOf(keep: number | undefined): { readonly keep?: number } {
  return keep === undefined ? {} : { keep };
}

function wantedExpiration({
  days,
  date,
  allVersions,
}: NonNullable<LifecycleRuleFields['expiration']>): NonNullable<LifecycleRule['expiration']> {
  const all = allVersions === true ? { allVersions: true as const } : {};
  if (days !== undefined) return { days, ...all };
  return date === undefined ? { loneMarkers: true } : { date: Date.parse(date), ...all };
}

function wantedTransition({
  days,
  date,
  tier,
}: NonNullable<LifecycleRuleFields['transition']>): NonNullable<LifecycleRule['transition']> {
  return date === undefined ? { days: days ?? 0, tier } : { date: Date.parse(date), tier };
}

function bytesOf(quantity: string | undefined): number | undefined {
  const bytes = quantity === undefined ? undefined : quantityValue(quantity);
  return bytes === undefined ? undefined : Math.round(bytes);
}

type Conditions = { readonly [Name in keyof LifecycleFilter]: LifecycleFilter[Name] | undefined };

function plainFilter({ prefix, tags, greaterThan, lessThan }: Conditions): LifecycleFilter {
  return {
    ...(prefix !== undefined && prefix !== '' && { prefix }),
    ...(tags !== undefined && Object.keys(tags).length > 0 && { tags }),
    ...(greaterThan !== undefined && { greaterThan }),
    ...(lessThan !== undefined && { lessThan }),
  };
}
