import type { z } from 'zod';
import { decodeKey } from '../store/keys.ts';
import type { SealedEntry } from './sealed-records.ts';

/**
 * Parses the JSON of a sealed record. The error names the record and the cure. It has no cause: that of the parser repeats a part of the text, which may be a secret.
 *
 * @throws Error where the record is damaged; access then fails closed
 */
export function parseSealedJson(entry: Pick<SealedEntry, 'key' | 'value'>): unknown {
  try {
    return JSON.parse(entry.value.toString());
  } catch {
    throw damaged(entry, 'it is not JSON');
  }
}

/** Like `parseSealedJson`, of one form. */
export function readSealedJson<T>(schema: z.ZodType<T>, entry: Pick<SealedEntry, 'key' | 'value'>): T {
  const read = schema.safeParse(parseSealedJson(entry));
  if (read.success) return read.data;
  throw damaged(entry, `in ${read.error.issues[0]?.path.join('.') || 'its form'}`);
}

function damaged({ key }: Pick<SealedEntry, 'key'>, how: string): Error {
  const name = decodeKey(key).slice(1).map(String).join(' ');
  return new Error(`the record "${name}" is damaged (${how}): restore the records from a snapshot or a backup`);
}
