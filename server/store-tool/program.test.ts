import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { explained } from './program.ts';

const { signal } = new AbortController();

/** The error that the system itself makes. */
function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing failed');
}

describe('an error of the command', () => {
  it('of the system is a sentence with the path, without a stack', () => {
    const path = `${fileURLToPath(import.meta.url)}/x`;
    expect(
      explained(
        errorOf(() => statSync(path)),
        { signal },
      ),
    ).toBe(`${path}: a part of the path is no folder`);
  });

  it.each([
    ['ENOSPC', 'no space is left on the device'],
    ['EBUSY', 'the system or another program uses it'],
  ])('of the code %s says what that means', (code, said) => {
    const error = Object.assign(new Error(`${code}: write`), { code, syscall: 'write' });
    expect(explained(error, { signal })).toBe(said);
  });

  it('of a copy that found no space names what was written', () => {
    const fields = { code: 'ENOSPC', syscall: 'copyfile', path: '/snapshot/a', dest: '/data/a' };
    const error = Object.assign(new Error('ENOSPC: no space left on device, copyfile'), fields);
    expect(explained(error, { signal })).toBe('/data/a: no space is left on the device');
    expect(explained(Object.assign(error, { code: 'EACCES' }), { signal })).toBe('/snapshot/a: permission denied');
  });

  it('that is a defect has its stack', () => {
    expect(explained(new TypeError('x is undefined'), { signal })).toMatch(/x is undefined\n +at /);
  });
});
