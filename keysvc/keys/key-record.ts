import { z } from 'zod';
import { keyAlgorithms, keyBytes, keyFrom } from './key.ts';
import type { Key } from './key.ts';

/** What a key store holds for a key: the JSON of the 2023 releases, which later ones read too. */
const record = z.object({
  version: z.literal('v1').optional(),
  bytes: z.base64().transform((text) => Buffer.from(text, 'base64')),
  /** The oldest records hold only the bytes. */
  algorithm: z.enum(keyAlgorithms).default('AES256-GCM_SHA256'),
  created_at: z.string().optional(),
  created_by: z.string().optional(),
});

export class KeyRecordError extends Error {
  override readonly name = 'KeyRecordError';
  readonly code = 'corrupted';
}

export function writeKeyRecord(key: Key): Buffer {
  return Buffer.from(
    JSON.stringify({
      version: 'v1',
      bytes: key.bytes.toString('base64'),
      algorithm: key.algorithm,
      created_at: key.createdAt?.toISOString(),
      created_by: key.createdBy,
    }),
  );
}

/** Errors with a `KeyRecordError` that says what is wrong, and never quotes the record. */
export function parseKeyRecord(data: Buffer): Key {
  let json: unknown;
  try {
    json = JSON.parse(data.toString('utf8'));
  } catch {
    throw new KeyRecordError(
      data.length === 0 ? 'the key record is empty' : 'the key record is not JSON of a form known here',
    );
  }
  const parsed = record.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new KeyRecordError(`the key record has no valid "${issue?.path.join('.') ?? ''}"`);
  }
  const { bytes, algorithm, created_at, created_by } = parsed.data;
  if (bytes.length !== keyBytes)
    throw new KeyRecordError(`the key in the record has ${bytes.length} bytes, not ${keyBytes}`);
  const createdAt = created_at === undefined ? undefined : new Date(created_at);
  return keyFrom(
    bytes,
    algorithm,
    createdAt !== undefined && Number.isNaN(createdAt.getTime()) ? undefined : createdAt,
    created_by,
  );
}
