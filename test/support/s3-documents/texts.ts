import * as fc from 'fast-check';

/**
 * The fields of a type, each with its values; a field that may be absent has `undefined` among them. The type checker refuses a generator that
 * lacks a field, so that a new field of a document cannot be forgotten.
 */
export type Fields<Type> = { readonly [Field in keyof Required<Type>]: fc.Arbitrary<Type[Field]> };

/** A record without the fields that are undefined. */
export function defined<Type extends object>(fields: Fields<Type>): fc.Arbitrary<Type> {
  return fc
    .record(fields)
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Type);
}

export function maybe<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof(fc.constant(undefined), value);
}

/** Texts that markup, white space and XML 1.0 make hard, next to plain ones. */
const hard = fc.constantFrom(
  'logs/',
  ' a b ',
  '<a>&amp;"\'',
  ']]>',
  'a\r\nb\tc',
  'ä/猫/🐈',
  'a\u0001b',
  '${aws:username}',
  '\uFFFE',
);

/** A prefix, a suffix or a key: it may begin and end with spaces, and have control characters. */
export const keyText: fc.Arbitrary<string> = fc.oneof(
  hard,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
);

/** An ID is stored without the white space around it. */
export const idText: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom('a', 'a<b', 'rule & rule', 'ä 猫'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  )
  .filter((id) => id.trim() === id && id !== '');

export const flag: fc.Arbitrary<true | undefined> = fc.constantFrom(undefined, true as const);

export const days: fc.Arbitrary<number> = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(2 ** 31 - 2_000));

/** Milliseconds since 1970, at midnight UTC. */
export const midnight: fc.Arbitrary<number> = fc.integer({ min: 10_000, max: 40_000 }).map((day) => day * 86_400_000);

/** Tags of a filter: any text. */
export const filterTags: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .uniqueArray(fc.tuple(idText, fc.oneof(fc.constant(''), keyText)), {
    minLength: 1,
    maxLength: 3,
    selector: ([key]) => key,
  })
  .map((tags) => Object.fromEntries(tags));
