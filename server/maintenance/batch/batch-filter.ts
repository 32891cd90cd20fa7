import { matches, parsePattern } from '../../../protocol/policy/glob.ts';
import type { BatchFilter, NameAndPattern } from './definition-fields.ts';

/** The fields of a version that a filter gets without another read. Times are milliseconds since 1970. */
interface FilteredVersion {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly modified: number;
}

/** Reports whether name, age and size match. `now` is the start of the job, so that a job that goes on selects the same. */
export function matchesFacts(filter: BatchFilter, { key, size, modified }: FilteredVersion, now: number): boolean {
  const { name, newerThanMs, olderThanMs, createdAfter, createdBefore, minSize, maxSize } = filter;
  if (name !== undefined && !matchesPattern(name, key)) return false;
  const age = now - modified;
  if (olderThanMs !== undefined && age <= olderThanMs) return false;
  if (newerThanMs !== undefined && age >= newerThanMs) return false;
  if (createdAfter !== undefined && modified <= createdAfter) return false;
  if (createdBefore !== undefined && modified >= createdBefore) return false;
  return (minSize === undefined || size >= minSize) && (maxSize === undefined || size <= maxSize);
}

/** Reports whether each condition has a tag or a header that matches it. The case of names does not count. */
export function matchesPairs(conditions: readonly NameAndPattern[], values: Readonly<Record<string, string>>): boolean {
  return conditions.every(({ key, value }) =>
    Object.entries(values).some(
      ([name, found]) => name.toLowerCase() === key.toLowerCase() && matchesPattern(value, found),
    ),
  );
}

function matchesPattern(pattern: string, text: string): boolean {
  return matches(parsePattern(pattern), text);
}
