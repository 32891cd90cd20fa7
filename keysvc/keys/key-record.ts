import { z } from 'zod';
import { keyAlgorithms, keyBytes, keyFrom } from './key.ts';
import type { Key } from './key.ts';
import { KeyError } from '../keystores/keystore.ts';
import { looksLikeProtobufRecord, readProtobufRecord } from './protobuf-key-record.ts';

/**
 * The stored record of a key: the JSON of the releases of 2023, which later ones read too. Only our key service writes the HMAC key and the
 * rotation; other programs of the protocol ignore them.
 */
const record = z.object({
  version: z.literal('v1').optional(),
  bytes: z.base64().transform((text) => Buffer.from(text, 'base64')),
  /** The oldest records have only the bytes. */
  algorithm: z.enum(keyAlgorithms).default('AES256-GCM_SHA256'),
  created_at: z.string().optional(),
  created_by: z.string().optional(),
  hmac: z
    .object({ bytes: z.base64().transform((text) => Buffer.from(text, 'base64')), hash: z.literal('SHA256') })
    .optional(),
  rotation: z.object({ name: z.string(), first: z.string() }).optional(),
});

export function writeKeyRecord(key: Key): Buffer {
  return Buffer.from(
    JSON.stringify({
      version: 'v1',
      bytes: key.bytes.toString('base64'),
      algorithm: key.algorithm,
      created_at: key.createdAt?.toISOString(),
      created_by: key.createdBy,
      hmac: key.hmacKey === undefined ? undefined : { bytes: key.hmacKey.toString('base64'), hash: 'SHA256' },
      rotation: key.rotation,
    }),
  );
}

/**
 * Reads a record of either generation.
 *
 * @throws KeyError `corrupted`; the message never quotes the record
 */
export function parseKeyRecord(data: Buffer): Key {
  const key = looksLikeProtobufRecord(data) ? parseProtobuf(data) : parseJson(data);
  if (key.bytes.length !== keyBytes)
    throw new KeyError('corrupted', `the key in the record has ${key.bytes.length} bytes, not ${keyBytes}`);
  return key;
}

function parseProtobuf(data: Buffer): Key {
  try {
    return readProtobufRecord(data);
  } catch (error) {
    throw new KeyError(
      'corrupted',
      `the key record is neither JSON nor a protobuf of a form known here: ${messageOf(error)}`,
    );
  }
}

function parseJson(data: Buffer): Key {
  let json: unknown;
  try {
    json = JSON.parse(data.toString('utf8'));
  } catch {
    throw new KeyError(
      'corrupted',
      data.length === 0 ? 'the key record is empty' : 'the key record is not JSON of a form known here',
    );
  }
  const parsed = record.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new KeyError('corrupted', `the key record has no valid "${issue?.path.join('.') ?? ''}"`);
  }
  const { bytes, algorithm, created_at, created_by, hmac, rotation } = parsed.data;
  return {
    ...keyFrom(bytes, algorithm, dateOf(created_at), created_by),
    hmacKey: hmac?.bytes,
    rotation,
  };
}

function dateOf(text: string | undefined): Date | undefined {
  const date = text === undefined ? undefined : new Date(text);
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
