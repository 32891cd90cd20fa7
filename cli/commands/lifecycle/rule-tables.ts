import type { LifecycleRuleFields } from '../../s3/lifecycle-document.ts';
import { textTable } from '../../terminal/format.ts';

interface Shown {
  readonly expiry?: boolean;
  readonly transition?: boolean;
}

const titles = ['ID', 'Status', 'Prefix', 'Tags'];
const dayMs = 86_400_000;

/** One table for each kind of action. */
export function ruleTables(rules: readonly LifecycleRuleFields[], shown: Shown, now: Date): string {
  const tables: string[] = [];
  const add = (
    title: string,
    columns: readonly string[],
    cells: (rule: LifecycleRuleFields) => string[] | undefined,
  ) => {
    const rows = rules.flatMap((rule) => {
      const more = cells(rule);
      return more === undefined ? [] : [[rule.ID, rule.Status, prefixOf(rule) || '-', tagsOf(rule) || '-', ...more]];
    });
    if (rows.length > 0) tables.push(`${title}\n${textTable([...titles, ...columns], rows)}`);
  };
  if (shown.transition !== true) {
    add(
      'Expiration of current versions',
      ['Days', 'Lone delete markers'],
      ({ Expiration: action }) => action && [daysOf(action, now), String(action.ExpiredObjectDeleteMarker === true)],
    );
    add(
      'Expiration of noncurrent versions',
      ['Days', 'Keep'],
      ({ NoncurrentVersionExpiration: action }) =>
        action && [String(action.NoncurrentDays ?? 0), String(action.NewerNoncurrentVersions ?? 0)],
    );
    add(
      'Unfinished uploads',
      ['Days'],
      ({ AbortIncompleteMultipartUpload: action }) => action && [String(action.DaysAfterInitiation ?? 0)],
    );
  }
  if (shown.expiry !== true) {
    add(
      'Transition of current versions',
      ['Days', 'Tier'],
      ({ Transition: action }) => action && cellsOf(action, (one) => [daysOf(one, now), one.StorageClass ?? '']),
    );
    add(
      'Transition of noncurrent versions',
      ['Days', 'Tier'],
      ({ NoncurrentVersionTransition: action }) =>
        action && cellsOf(action, (one) => [String(one.NoncurrentDays ?? 0), one.StorageClass ?? '']),
    );
  }
  return tables.join('\n\n');
}

/** A rule of AWS may have several transitions. */
function cellsOf<Action>(action: Action | readonly Action[], cells: (one: Action) => readonly string[]): string[] {
  const rows = [action].flat().map((one) => cells(one as Action));
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]).join(', '));
}

function prefixOf({ Prefix, Filter }: LifecycleRuleFields): string {
  return Prefix ?? Filter?.Prefix ?? Filter?.And?.Prefix ?? '';
}

function tagsOf({ Filter }: LifecycleRuleFields): string {
  const tags = Filter?.Tag === undefined ? (Filter?.And?.Tags ?? []) : [Filter.Tag];
  return tags.map(({ Key, Value = '' }) => `${Key}=${Value}`).join('&');
}

/** A date as the days that are left until then. */
function daysOf({ Days, Date: date }: { readonly Days?: number; readonly Date?: string }, now: Date): string {
  if (Days !== undefined && Days > 0) return String(Days);
  return date === undefined ? '0' : String(Math.trunc((Date.parse(date) - now.getTime()) / dayMs));
}
