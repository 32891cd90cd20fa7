import { createHash } from 'node:crypto';

/** Of the key service, of the client: fixed for ever, and used nowhere else. */
export const keys = { 'main-key': bytesOf('main-key'), 'second-key': bytesOf('second-key') } as const;
export const customerKeyBytes = bytesOf('customer-key');

/** What each object is, by its key. Bodies are made of their names, so that they need not be kept. */
export const expected = {
  'sse-s3-empty': { size: 0, kind: 'SSE-S3' },
  'sse-s3-inline': { size: 1_000, kind: 'SSE-S3' },
  'sse-kms-inline': { size: 1_000, kind: 'SSE-KMS' },
  'sse-kms-blob': { size: 70_000, kind: 'SSE-KMS' },
  'sse-kms-context': { size: 300, kind: 'SSE-KMS' },
  'sse-kms-parts': { size: 2_000, kind: 'SSE-KMS' },
  'sse-kms-resealed': { size: 300, kind: 'SSE-KMS' },
  'sse-c-inline': { size: 300, kind: 'SSE-C' },
} as const satisfies Record<string, { readonly size: number; readonly kind: string }>;

export type Name = keyof typeof expected;

/** The same bytes for the same name, on every machine. */
export function bodyOf(name: string, size: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; blocks.length * 32 < size; at += 1)
    blocks.push(createHash('sha256').update(`${name} ${at}`).digest());
  return Buffer.concat(blocks).subarray(0, size);
}

function bytesOf(name: string): Buffer {
  return createHash('sha256').update(`a key of a test: ${name}`).digest();
}
