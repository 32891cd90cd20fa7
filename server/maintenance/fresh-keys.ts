import { contextText } from '../encryption/encryption-context.ts';
import { ExpiringCache } from '../encryption/expiring-cache.ts';
import { dataKeyLimits } from '../encryption/key-service-keys.ts';
import type { DataKey, KeySource } from '../encryption/key-source.ts';

/**
 * The same keys, but none that was generated before: this thread may still hold data keys under the version before the newest. What is
 * generated now serves as many objects as ever.
 */
export function freshKeys(keys: KeySource, clock: () => number): KeySource {
  const generated = new ExpiringCache<DataKey>(dataKeyLimits, clock);
  return {
    ...keys,
    generate: async (keyName, context, options) =>
      generated.get(`${keyName} ${contextText(context)}`, keyName, () =>
        keys.generate(keyName, context, { ...options, once: true }),
      ),
  };
}
