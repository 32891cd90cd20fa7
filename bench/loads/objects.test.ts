import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Bodies } from './objects.ts';

function body(bodies: Bodies, number: number): Buffer {
  return Buffer.concat([Buffer.from(bodies.stamp(number)), bodies.tail]);
}

describe('bodies of objects', () => {
  it('have their size and differ from object to object', () => {
    const bodies = new Bodies(4_096);
    expect(body(bodies, 7)).toHaveLength(4_096);
    expect(bodies.matches(7, body(bodies, 7))).toBe(true);
    expect(bodies.matches(8, body(bodies, 7))).toBe(false);
  });

  it('are known to be changed by a single byte', () => {
    const bodies = new Bodies(4_096);
    const changed = body(bodies, 7);
    changed[4_000]! ^= 1;
    expect(bodies.matches(7, changed)).toBe(false);
  });

  it('have a hash to be signed', () => {
    const bodies = new Bodies(100);
    expect(bodies.sha256(3)).toBe(createHash('sha256').update(body(bodies, 3)).digest('hex'));
  });

  it('repeat nothing within 8 MiB', () => {
    const { tail } = new Bodies(8_388_608);
    const MiB = 2 ** 20;
    expect(tail.subarray(0, 64)).not.toEqual(tail.subarray(MiB, MiB + 64));
    expect(tail.subarray(-64).every((byte) => byte === 0)).toBe(false);
  });
});
