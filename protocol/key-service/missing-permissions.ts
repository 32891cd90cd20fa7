import { z } from 'zod';
import type { DescribeSelfAnswer } from './payloads.ts';
import { allowsPath } from './policy.ts';

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
