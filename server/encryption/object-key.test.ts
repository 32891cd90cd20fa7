import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newObjectKey, openObjectKey, sealObjectKey, OpenedObjectKey } from './object-key.ts';
import { SALT_SIZE, streamKey } from './packages.ts';

const damagedCiphertext = expect.objectContaining({ code: 'ciphertext-damaged' }) as Error;

const bytes = randomBytes(32);
const dataKey = { origin: 'service', bytes } as const;
const place = { bucket: 'bucket', key: 'a/b', id: '00' };
const objectKey = newObjectKey(randomBytes);
const sealed = sealObjectKey(objectKey, dataKey, place, randomBytes);

describe('a sealed object key', () => {
  it('opens where it belongs', () => {
    expect(openObjectKey(sealed, dataKey, place)).toEqual(objectKey);
  });

  it('is another every time', () => {
    expect(sealObjectKey(objectKey, dataKey, place, randomBytes)).not.toEqual(sealed);
  });

  it.each([
    ['bucket', { ...place, bucket: 'other' }],
    ['key', { ...place, key: 'a/c' }],
    ['id', { ...place, id: '01' }],
    // Names joined without a boundary would be the same here.
    ['boundary between bucket and key', { ...place, bucket: 'bucketa', key: '/b' }],
  ])('does not open under another %s', (_what, elsewhere) => {
    expect(() => openObjectKey(sealed, dataKey, elsewhere)).toThrow(damagedCiphertext);
  });

  it('does not open with another data key', () => {
    expect(() => openObjectKey(sealed, { origin: 'service', bytes: randomBytes(32) }, place)).toThrow(
      damagedCiphertext,
    );
  });

  it('of the key service does not open with the same bytes from a client', () => {
    expect(() => openObjectKey(sealed, { origin: 'customer', bytes }, place)).toThrow(damagedCiphertext);
  });

  it('does not open with any byte changed, or cut', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const damaged = Buffer.from(sealed);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(() => openObjectKey(damaged, dataKey, place)).toThrow(damagedCiphertext);
    }
    expect(() => openObjectKey(sealed.subarray(0, -1), dataKey, place)).toThrow(damagedCiphertext);
  });
});

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
