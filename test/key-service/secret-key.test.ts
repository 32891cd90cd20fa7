import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { keyFrom } from '../../keysvc/keys/key.ts';
import { unseal } from '../../keysvc/keys/seal.ts';
import { contextBytes } from '../../server/encryption/key-source.ts';
import { secretKeySource } from '../../server/encryption/secret-key-source.ts';

it('what SVC_KMS_SECRET_KEY sealed opens at the key service that the key was imported into', async () => {
  const bytes = randomBytes(32);
  const context = { 'coffer:bucket': 'b' };
  const { plaintext, sealed } = await secretKeySource({ name: 'my-key', bytes }).generate('my-key', context);
  const imported = keyFrom(bytes, 'AES256-GCM_SHA256');
  expect(unseal(imported, Buffer.from(sealed.ciphertext, 'base64'), contextBytes(context))).toEqual(plaintext);
  expect(sealed.keyVersion).toBe(imported.id);
});
