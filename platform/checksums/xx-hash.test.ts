import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Hasher, hasherOf } from './hashers.ts';

const input = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 2_654_435_761) >>> 24));

function digestOf(hasher: Hasher, ...chunks: Buffer[]): Buffer {
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest();
}

/**
 * The SHA-256 of the digests of the first 0 to 4,200 bytes, as awscrt 0.38.1 and @aws-sdk/checksums 3.1002.5 compute them: every length
 * has its own path up to 240 bytes, and blocks have 1,024.
 */
describe.each([
  ['XXHASH64', 'b907d42eaf779374acc35b2b3b04a6c7779447c1c43498f3554bebea3aac616b'],
  ['XXHASH3', '73207dd119409e7518e79df931a5e510e006390dba173f60f4ad9126103839e4'],
  ['XXHASH128', '97597d38ac01d36580773a796a5c6057ef080c08f6d53bfc1a59195b56c5f56d'],
] as const)('%s', (algorithm, expected) => {
  it('is what AWS computes, of every length', () => {
    const all = createHash('sha256');
    for (let length = 0; length <= 4_200; length += 1) {
      all.update(digestOf(hasherOf(algorithm), input.subarray(0, length)));
    }
    expect(all.digest('hex')).toBe(expected);
  });

  it('does not depend on how a body is cut, and hashers do not disturb each other', () => {
    fc.assert(
      fc.property(fc.nat(70_000), fc.nat(70_000), fc.nat(70_000), (a, b, size) => {
        const whole = input.subarray(0, size);
        const [first, second] = [Math.min(a, b), Math.max(a, b)];
        const [hasher, another] = [hasherOf(algorithm), hasherOf(algorithm)];
        for (const chunk of [whole.subarray(0, first), whole.subarray(first, second), whole.subarray(second)]) {
          hasher.update(chunk);
          another.update(input.subarray(7, 3_000));
        }
        expect(hasher.digest()).toEqual(digestOf(hasherOf(algorithm), whole));
      }),
      { numRuns: 60 },
    );
  });
});

it('writes the digest in base64 as the documentation of the SDK for Go shows it', () => {
  expect(digestOf(hasherOf('XXHASH64'), Buffer.from('hello world')).toString('base64')).toBe('RatnNLIeaWg=');
});
