import { z } from 'zod';
import type { DescribeSelfAnswer } from './payloads.ts';
import { routes } from './routes.ts';

/** A policy of the key service: patterns that match the paths of its calls. */
export interface KeyServicePolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/**
 * A `deny` line without a name covers every list and all of `/v1/key/bulk/decrypt`. An `allow` line without a name covers every list,
 * because a list gives names and reaches no key, and nothing else.
 */
const allowsAnyTail: ReadonlySet<string> = new Set(['/v1/key/list']);
const deniesAnyTail: ReadonlySet<string> = new Set(['/v1/key/list', '/v1/key/bulk/decrypt']);

/**
 * Reports whether a policy allows a path. A path that `deny` matches is refused, a path that `allow` matches is allowed, and every other
 * path is refused.
 *
 * A `*` at the end matches any tail, as in the releases since 2024: `/v1/key/*` allows every call of keys. Elsewhere patterns are those of the
 * 2023 releases: `*` and `?` stay inside one segment, `[a-z]` is a set.
 */
export function allowsPath(policy: KeyServicePolicy, path: string): boolean {
  if (policy.deny.some((pattern) => covers(pattern, path, deniesAnyTail))) return false;
  return policy.allow.some((pattern) => covers(pattern, path, allowsAnyTail));
}

function covers(pattern: string, path: string, coversAnyTail: ReadonlySet<string>): boolean {
  if (coversAnyTail.has(pattern) && (path === pattern || path.startsWith(`${pattern}/`))) return true;
  return toRegExp(pattern).test(path);
}

/**
 * Reports whether no call that a policy decides has a path that the pattern matches: it is misspelt, for a call of another release, or for one that
 * needs no policy, such as `/version`. It compares the
 * text before the first sign with the paths, so that a pattern with signs may match nothing although this reports otherwise.
 */
export function matchesNoCall(pattern: string): boolean {
  if (compile(pattern) === undefined) return true;
  const start = /^[^*?[]*/.exec(pattern)?.[0] ?? '';
  const isWhole = start === pattern;
  return !routes.some(({ path, argument, access }) => {
    if (access !== 'policy') return false;
    if (argument === 'none') return isWhole ? path === pattern : path.startsWith(start);
    const withName = `${path}/`;
    if (isWhole) return pattern.startsWith(withName) || allowsAnyTail.has(pattern) || deniesAnyTail.has(pattern);
    return withName.startsWith(start) || start.startsWith(withName);
  });
}

/**
 * Says why a pattern under `deny` guards nothing, as the end of a sentence. Under `allow` such a mistake closes; there it opens what the pattern
 * was to guard. Returns undefined for a pattern that is well formed, also for one of no call.
 */
export function denyPatternError(pattern: string): string | undefined {
  if (compile(pattern) === undefined) return 'is no pattern: a "[" without its "]", or a range in the wrong order';
  return /^(?:\/|\*+(?:\/|$))/.test(pattern) ? undefined : 'begins with no "/", and no path of a call matches it';
}

const compiled = new Map<string, RegExp>();

function toRegExp(pattern: string): RegExp {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    expression = compile(pattern) ?? matchesNothing;
    // Patterns come from the configuration alone, so the map stays small. The limit protects against a caller that passes other texts.
    if (compiled.size >= 10_000) compiled.clear();
    compiled.set(pattern, expression);
  }
  return expression;
}

const matchesNothing = /[^\s\S]/;

/** Returns undefined for a pattern with a `[` that has no `]`, or with an empty or backward range. */
function compile(pattern: string): RegExp | undefined {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') {
      while (pattern.charAt(i + 1) === '*') i++;
      source += i === pattern.length - 1 ? '.*' : '[^/]*';
    } else if (char === '?') {
      // `?` must not match `*`, which is the pattern of all names in the path of a list call.
      source += '[^/*]';
    } else if (char === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) return undefined;
      const set = pattern.slice(i + 1, end).replace(/[\\\]]/g, '\\$&');
      source += `(?![/*])[${set}]`;
      i = end;
    } else {
      source += char.replace(/[\\^$.|+(){}\]/]/g, '\\$&');
    }
  }
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return undefined;
  }
}

/** Lists the paths that a storage server calls for its objects and for the backend, by the name of its default key. */
function neededPaths(defaultKey: string): readonly string[] {
  return ['generate', 'decrypt'].map((call) => `/v1/key/${call}/${defaultKey}`);
}

/** Lists in the first generation, objects by pattern in the second. */
const patterns = z
  .union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)])
  .nullish()
  .transform((list) => list ?? []);
const policy = z.object({ allow: patterns, deny: patterns });

/**
 * Lists the paths that a server needs and that the key service does not allow it. The list is empty if the response does not contain the
 * policy: then the calls themselves show what is missing.
 */
export function missingPermissions(self: DescribeSelfAnswer, defaultKey: string): readonly string[] {
  if (self.admin === true) return [];
  const read = policy.safeParse(typeof self.policy === 'object' && self.policy !== null ? self.policy : self);
  if (!read.success) return [];
  return neededPaths(defaultKey).filter((path) => !allowsPath(read.data, path));
}
