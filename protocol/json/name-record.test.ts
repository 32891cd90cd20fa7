import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nameRecord } from './name-record.ts';

const sizes = nameRecord(z.string().max(11), z.object({ size: z.number() }));

describe('a record with names that callers choose', () => {
  it('keeps every name', () => {
    const text = '{"__proto__":{"size":1},"constructor":{"size":2},"2":{"size":3}}';
    const parsed = sizes.parse(JSON.parse(text));
    expect(Object.keys(parsed).sort()).toEqual(['2', '__proto__', 'constructor']);
    expect(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value).toEqual({ size: 1 });
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it('names what is wrong by its path', () => {
    const text = '{"__proto__":{"size":"x"},"a name that is long":{"size":1}}';
    const issues = sizes.safeParse(JSON.parse(text)).error?.issues ?? [];
    expect(issues.map(({ path }) => path)).toEqual([['__proto__', 'size'], ['a name that is long']]);
  });

  it.each([null, [], 'text', 1])('refuses %j', (value) => {
    expect(sizes.safeParse(value).success).toBe(false);
  });

  it('may be absent where it is optional', () => {
    expect(z.object({ tags: sizes.optional() }).parse({})).toEqual({});
    expect(z.object({ tags: sizes.default({}) }).parse({})).toEqual({ tags: {} });
  });
});
