import { describe, expect, it } from 'vitest';
import { ResponseError } from '../../protocol/response-error.ts';
import { isTransient } from './retry.ts';

describe('an answer', () => {
  it.each([
    [404, false],
    [408, true],
    [412, false],
    [421, true],
    [425, true],
    [429, true],
    [500, true],
    [501, false],
    [503, true],
    [507, false],
  ])('with the status %d may be asked for again: %s', (status, expected) => {
    expect(isTransient(new ResponseError('Code', 'message', { status }))).toBe(expected);
  });
});

describe('an error of the network', () => {
  it.each([
    ['ECONNRESET', true],
    ['ENOENT', false],
  ])('with the code %s is transient: %s', (code, expected) => {
    expect(isTransient(Object.assign(new Error('failed'), { code }))).toBe(expected);
  });
});
