import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CrcModule } from './crc-module.ts';

describe('the module of CRCs', () => {
  it('computes with the polynomial of CRC-32 what zlib does, over every length of step, rest and piece', () => {
    const module = new CrcModule(0xedb88320n);
    const bytes = randomBytes(200_003);
    for (const length of [...Array.from({ length: 50 }, (_, index) => index), 65_535, 65_536, 65_537, bytes.length]) {
      const state = Uint32Array.of(0xffff_ffff, 0);
      module.update(state, bytes.subarray(1, 1 + length));
      expect(~(state[0] ?? 0) >>> 0).toBe(crc32(bytes.subarray(1, 1 + length)));
    }
  });
});
