import type { z } from 'zod';
import { KeyError } from '../keystore.ts';

/**
 * Parses the body of an answer.
 *
 * @throws KeyError `unavailable`; the message never quotes the body, which may hold a key or a token
 */
export function readJson<T>(text: string, schema: z.ZodType<T>, of: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new KeyError('unavailable', `${of} answers something that is no JSON: is the endpoint right?`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new KeyError('unavailable', `${of} answers without a valid "${place}": is the endpoint right?`);
}

/** Parses the body of a failure; undefined where it does not match. */
export function tryJson<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Shortens a vendor's text to one line for a message. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
