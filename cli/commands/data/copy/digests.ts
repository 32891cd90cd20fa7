import { createHash } from 'node:crypto';
import type { ChecksumAlgorithm } from '../../../../protocol/s3/checksum-algorithms.ts';
import type { CompletedPart } from '../../../../protocol/s3/completed-part.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { ObjectHeaders } from '../../../s3/objects.ts';

/** The digests to send with each body. */
export interface WantedDigests {
  readonly md5: boolean;
  readonly checksum?: ChecksumAlgorithm | undefined;
}

/** The values of `--checksum`. */
const offered: readonly ChecksumAlgorithm[] = ['CRC64NVME', 'CRC32', 'CRC32C', 'SHA1', 'SHA256'];

export function isOffered(name: string): name is ChecksumAlgorithm {
  return offered.some((one) => one === name);
}

/** @throws ProgramError BadArgument */
export function parseChecksum(text: string | undefined): WantedDigests {
  if (text === undefined) return { md5: false };
  const name = text.toUpperCase();
  // Other clients take it here too, for Content-MD5.
  if (name === 'MD5') return { md5: true };
  const checksum = offered.find((one) => one === name);
  if (checksum !== undefined) return { md5: false, checksum };
  throw new ProgramError('BadArgument', `Invalid --checksum \`${text}\`: it is MD5 or one of ${offered.join(', ')}`);
}

/** The digests of a body, in base64. */
export interface BodyDigests {
  readonly md5?: string;
  readonly checksum?: NonNullable<CompletedPart['checksum']>;
}

/** Reads the bytes once. Reads nothing if no digest is wanted. */
export async function digestsOf(
  open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { md5, checksum }: WantedDigests,
): Promise<BodyDigests> {
  if (!md5 && checksum === undefined) return {};
  const hash = md5 ? createHash('md5') : undefined;
  // Loaded on demand: few commands name a checksum.
  const hasher =
    checksum === undefined ? undefined : (await import('../../../../platform/checksums/hashers.ts')).hasherOf(checksum);
  for await (const bytes of open()) {
    hash?.update(bytes);
    hasher?.update(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  return {
    ...(hash && { md5: hash.digest('base64') }),
    ...(hasher && checksum && { checksum: { algorithm: checksum, value: hasher.digest().toString('base64') } }),
  };
}

/** The headers of a request with a body. */
export function digestHeaders({ md5, checksum }: BodyDigests): ObjectHeaders {
  return {
    ...(md5 !== undefined && { 'content-md5': md5 }),
    ...(checksum && { [`x-amz-checksum-${checksum.algorithm.toLowerCase()}`]: checksum.value }),
  };
}

/** The headers with which an upload in parts begins. The checksum of the object is that of its parts, except for CRC64NVME. */
export function uploadDigestHeaders({ checksum }: WantedDigests): ObjectHeaders {
  return checksum === undefined ? {} : { 'x-amz-checksum-algorithm': checksum };
}
