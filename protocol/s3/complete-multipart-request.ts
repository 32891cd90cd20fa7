export interface CompletedPart {
  /** 1 to 10,000, in ascending order. */
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  /** Base64, of whichever algorithm the upload has. */
  readonly checksum?: string;
}

export function parseCompleteMultipartUpload(_body: string | Buffer): readonly CompletedPart[] {
  throw new Error('not yet');
}
