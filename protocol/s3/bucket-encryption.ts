export type BucketEncryptionRule =
  { readonly scheme: 'SSE-S3' } | { readonly scheme: 'SSE-KMS'; readonly keyName?: string };

/** Reads a ServerSideEncryptionConfiguration with its single rule. */
export function parseBucketEncryption(_body: string | Buffer): BucketEncryptionRule {
  throw new Error('not yet');
}

/** The document that GetBucketEncryption answers and PutBucketEncryption sends. */
export function writeBucketEncryption(_rule: BucketEncryptionRule): string {
  throw new Error('not yet');
}
