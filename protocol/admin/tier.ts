/** A tier: a bucket of another server, below a prefix, to which bodies move. */
export interface TierFields {
  /** The name in lifecycle rules, and the storage class in answers. */
  readonly name: string;
  /** The kind of `mc ilm tier add`. The first two speak S3. */
  readonly type: 's3' | 'minio' | 'azure' | 'gcs';
  /** A URL without a path; that of an account of Azure may have one. */
  readonly endpoint: string;
  readonly region: string;
  /** The container of Azure. */
  readonly bucket: string;
  /** Empty, or without a slash at its end. */
  readonly prefix: string;
  /** Empty for the default of the other server. */
  readonly storageClass: string;
  /** The name of the account of Azure, or the address of the service account of Google. */
  readonly accessKey: string;
  /** The key of the account of Azure, or the file of the key of the service account of Google. */
  readonly secretKey: string;
}

/** A tier as answers show it. */
export type ShownTier = Omit<TierFields, 'secretKey'>;
