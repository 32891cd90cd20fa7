import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { OpenedObjectKey } from './opened-object-key.ts';
import { SALT_SIZE, streamKey } from './packages.ts';

describe('an object key that was opened', () => {
  it('gives its bytes and the keys of its streams, whichever was asked for before, in new buffers', () => {
    const bytes = randomBytes(32);
    const key = new OpenedObjectKey(bytes);
    const salts = [randomBytes(SALT_SIZE), randomBytes(SALT_SIZE)];
    for (const salt of [...salts, ...salts].flatMap((each) => [each, each])) {
      const found = key.streamKey(salt.toString('base64'));
      expect(found).toEqual(streamKey(bytes, salt));
      found.fill(0);
      key.bytes.fill(0);
    }
    expect(key.bytes).toEqual(bytes);
  });
});
