import { randomBytes } from 'node:crypto';
import { type Key, keyFrom } from '../../keysvc/keys/key.ts';
import { seal, unseal } from '../../keysvc/keys/seal.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import type { KeySource } from '../../server/encryption/key-source.ts';
import { keys } from './expected.ts';

/** What a key service with the fixed keys answers, by its own code. */
export function fixedKeys(): KeySource {
  return keyServiceKeys(
    {
      async generateKey(name, context) {
        const plaintext = randomBytes(32);
        const key = keyOf(name);
        return { plaintext, ciphertext: seal(key, plaintext, context), version: key.id };
      },
      decryptKey: async (name, ciphertext, context) => unseal(keyOf(name), ciphertext, context),
    },
    { defaultKey: 'main-key' },
  );
}

function keyOf(name: string): Key {
  const bytes = Object.entries(keys).find(([known]) => known === name)?.[1];
  if (bytes === undefined) throw Object.assign(new Error(`there is no key ${name}`), { code: 'key-not-found' });
  return keyFrom(bytes, 'AES256-GCM_SHA256');
}
