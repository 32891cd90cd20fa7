/** Where records are: `SVC_STORE_RECORDS`, parsed. */
export type RecordsAddress =
  | { readonly kind: 'lmdb'; readonly folder: string }
  /** `url` is `postgres://USER@HOST:PORT/DATABASE?OPTIONS` without a password: what may stand in a log. */
  | { readonly kind: 'postgres'; readonly url: string; readonly password?: string };

/** Where bodies are: `SVC_STORE_BLOBS` and its companions, parsed. */
export type BlobsAddress =
  | { readonly kind: 'files'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or ends with a slash. */
      readonly prefix: string;
      /** AWS's own where absent. */
      readonly endpoint?: string;
      /** The path of authorities that may have signed its certificate, besides those of the system. */
      readonly caFile?: string;
      readonly region: string;
      readonly accessKey: string;
      readonly secretKey: string;
    };
