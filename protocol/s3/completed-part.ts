import type { ChecksumAlgorithm } from './checksum-algorithms.ts';

/** A part in the document that completes a multipart upload. */
export interface CompletedPart {
  /** 1 to 10,000, in ascending order. */
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; /** Base64. */ readonly value: string };
}
