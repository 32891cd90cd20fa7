import { z } from 'zod';
import type { DescribeSelfAnswer } from './payloads.ts';

/** A policy of the key service: patterns over the paths of its calls. */
export interface KeyServicePolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/**
 * A line that names no key covers every list: a list gives names and reaches no key. A denial without a name also covers all of
 * `/v1/key/bulk/decrypt`, but a permission without a name opens nothing.
 */
const allowsAnyTail: ReadonlySet<string> = new Set(['/v1/key/list']);
const deniesAnyTail: ReadonlySet<string> = new Set(['/v1/key/list', '/v1/key/bulk/decrypt']);

/**
 * Whether a policy allows a path: what `deny` names is refused, then what `allow` names is allowed, the rest is refused.
 *
 * Patterns are those of the 2023 releases: `*` and `?` stay inside one segment, `[a-z]` is a set. Later releases read a trailing
 * `*` as any tail; `deny` takes that wider reading, since a refusal too many is noticed and one too few is not.
 */
export function allowsPath(policy: KeyServicePolicy, path: string): boolean {
  if (policy.deny.some((pattern) => covers(pattern, path, 'any tail'))) return false;
  return policy.allow.some((pattern) => covers(pattern, path, 'one segment'));
}

/** Why a pattern of a policy is refused; undefined when it is fine. */
export function policyPatternProblem(pattern: string): string | undefined {
  if (!pattern.startsWith('/')) return 'must be a path that begins with "/", such as /v1/key/create/*';
  if (pattern.length > 512) return 'is longer than 512 characters';
  try {
    toRegExp(pattern, 'one segment');
    return undefined;
  } catch {
    return 'has a "[" without its "]", or an empty or backward range in it';
  }
}

function covers(pattern: string, path: string, reading: Reading): boolean {
  const coversAnyTail = reading === 'any tail' ? deniesAnyTail : allowsAnyTail;
  if (coversAnyTail.has(pattern) && (path === pattern || path.startsWith(`${pattern}/`))) return true;
  return toRegExp(pattern, reading).test(path);
}

type Reading = 'one segment' | 'any tail';

const compiled = new Map<string, RegExp>();

function toRegExp(pattern: string, reading: Reading): RegExp {
  const key = `${reading} ${pattern}`;
  let expression = compiled.get(key);
  if (expression === undefined) {
    expression = compile(pattern, reading);
    // Patterns come from the configuration alone, so the map stays small; the bound is for a caller that breaks that.
    if (compiled.size >= 10_000) compiled.clear();
    compiled.set(key, expression);
  }
  return expression;
}

function compile(pattern: string, reading: Reading): RegExp {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') {
      while (pattern.charAt(i + 1) === '*') i++;
      source += reading === 'any tail' && i === pattern.length - 1 ? '.*' : '[^/]*';
    } else if (char === '?') {
      // Not `*`, which stands in the path of a list call: `?` must not let the pattern of all names through.
      source += '[^/*]';
    } else if (char === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) throw new SyntaxError('no ]');
      const set = pattern.slice(i + 1, end).replace(/[\\\]]/g, '\\$&');
      source += `(?![/*])[${set}]`;
      i = end;
    } else {
      source += char.replace(/[\\^$.|+(){}\]/]/g, '\\$&');
    }
  }
  return new RegExp(`^${source}$`);
}

/** What a storage server calls for its objects and for the backend, by the name of its default key. */
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
 * The paths that a server must be allowed and is not, by what the key service says of it. None where the service says nothing of the
 * policy: then the calls themselves must tell.
 */
export function missingPermissions(self: DescribeSelfAnswer, defaultKey: string): readonly string[] {
  if (self.admin === true) return [];
  const read = policy.safeParse(typeof self.policy === 'object' && self.policy !== null ? self.policy : self);
  if (!read.success) return [];
  return neededPaths(defaultKey).filter((path) => !allowsPath(read.data, path));
}
