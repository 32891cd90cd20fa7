import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closestName } from './closest-name.ts';

describe('the closest name', () => {
  it.each([
    ['mien', 'mine'],
    ['mine2', 'mine'],
    ['photo', 'photos'],
    ['Photos', 'photos'],
    ['phtoos', 'photos'],
    ['bakcups', 'backups'],
    ['zzz', undefined],
    ['x', undefined],
    ['a'.repeat(100), undefined],
  ])('of %s is %s', (word, name) => {
    expect(closestName(word, ['mine', 'photos', 'backups', 'local'])).toBe(name);
  });

  it('is none where two are equally close', () => {
    expect(closestName('log', ['dog', 'fog'])).toBeUndefined();
  });

  it('is found after any one slip in a name of three letters or more', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(), (name, seed) => {
        const at = seed % name.length;
        expect(closestName(`${name.slice(0, at)}#${name.slice(at + 1)}`, [name])).toBe(name);
      }),
    );
  });
});
