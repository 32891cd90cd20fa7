import { describe, expect, it } from 'vitest';
import { Decimal } from '../evaluate/decimal.ts';
import { converterOf } from './parquet-values.ts';

describe('a decimal in bytes', () => {
  const convert = converterOf(
    {
      element: { name: 'a', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL', converted_type: 'DECIMAL', scale: 2 },
      path: ['a'],
      children: [],
      count: 1,
      maxDefinitionLevel: 1,
      maxRepetitionLevel: 0,
    } as unknown as Parameters<typeof converterOf>[0],
    0,
  );

  it('may have 256 bits', () => {
    expect(convert(Buffer.alloc(32, 0xff))).toEqual(new Decimal(-1n, 2));
    const largest = Buffer.concat([Buffer.from([0x7f]), Buffer.alloc(31, 0xff)]);
    expect(convert(largest)).toEqual(new Decimal(2n ** 255n - 1n, 2));
  });

  it('is refused where it has more', () => {
    expect(() => convert(Buffer.alloc(33))).toThrow('A decimal of the Parquet file has more than 256 bits.');
  });
});
