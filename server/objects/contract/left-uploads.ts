/** The uploads in parts of one version that another server had left, and that a commit ended. */
export interface LeftUploads {
  readonly bucket: string;
  readonly key: string;
  /** `null` for the null version. */
  readonly versionId: string;
  readonly count: number;
}
