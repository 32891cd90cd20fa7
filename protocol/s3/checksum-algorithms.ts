/** The checksums of S3, with their sizes in bytes. */
export const checksumSizes = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
  SHA512: 64,
  MD5: 16,
  XXHASH64: 8,
  XXHASH3: 8,
  XXHASH128: 16,
} as const;

export type ChecksumAlgorithm = keyof typeof checksumSizes;

export const checksumAlgorithms = Object.keys(checksumSizes) as readonly ChecksumAlgorithm[];
