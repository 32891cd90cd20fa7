import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newObjectKey, sealObjectKey } from '../../encryption/object-key.ts';
import { OpenedObjectKeys } from './object-keys.ts';

const damagedCiphertext = expect.objectContaining({ code: 'ciphertext-damaged' }) as Error;

const place = { bucket: 'bucket', key: 'key', id: 'a'.repeat(32) };
const dataKey = randomBytes(32);
const objectKey = newObjectKey(randomBytes);
const sealed = seal(dataKey);

function seal(bytes: Buffer): string {
  return sealObjectKey(objectKey, { origin: 'service', bytes }, place, randomBytes).toString('base64');
}

describe('object keys that were opened', () => {
  it('are the same again, in buffers of their own', () => {
    const keys = new OpenedObjectKeys();
    keys.open(sealed, dataKey, place).bytes.fill(0);
    keys.open(sealed, dataKey, place).bytes.fill(0);
    expect(keys.open(sealed, dataKey, place).bytes).toEqual(objectKey);
  });

  it.each([
    ['bucket', { ...place, bucket: 'other' }],
    ['key', { ...place, key: 'other' }],
    ['id', { ...place, id: 'b'.repeat(32) }],
  ])('open nothing in another place: %s', (_what, other) => {
    const keys = new OpenedObjectKeys();
    keys.open(sealed, dataKey, place);
    expect(() => keys.open(sealed, dataKey, other)).toThrow(damagedCiphertext);
  });

  it('open nothing under another data key', () => {
    const keys = new OpenedObjectKeys();
    keys.open(sealed, dataKey, place);
    expect(() => keys.open(sealed, randomBytes(32), place)).toThrow(damagedCiphertext);
  });

  it('open nothing where the sealed key was changed', () => {
    const keys = new OpenedObjectKeys();
    keys.open(sealed, dataKey, place);
    const changed = Buffer.from(sealed, 'base64');
    changed[50] = (changed[50] ?? 0) ^ 1;
    expect(() => keys.open(changed.toString('base64'), dataKey, place)).toThrow(damagedCiphertext);
  });

  it('are found by the data key that was given now, not by an equal one', () => {
    const keys = new OpenedObjectKeys(1);
    keys.open(sealed, dataKey, place);
    expect(keys.open(sealed, Buffer.from(dataKey), place).bytes).toEqual(objectKey);
  });

  it('are opened again when there were too many', () => {
    const keys = new OpenedObjectKeys(2);
    const many = Array.from({ length: 5 }, () => seal(dataKey));
    for (const one of [...many, ...many]) expect(keys.open(one, dataKey, place).bytes).toEqual(objectKey);
  });
});
