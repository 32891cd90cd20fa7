import { z } from 'zod';

/**
 * An optional setting. A setting without a value, and an empty text, count as missing: `${NAME}` may be an empty variable, and the sample
 * configurations of the protocol have empty texts everywhere.
 */
export function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());
}

/** A list without its empty texts. */
export function texts<T extends z.ZodType<string>>(schema: T) {
  return z.preprocess(
    (value) => (Array.isArray(value) ? value.filter((item) => item !== '' && item !== null) : value),
    z.array(schema),
  );
}
