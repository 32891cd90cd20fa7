/** The files of a bucket in an archive of MinIO (`mc admin cluster bucket export`), below a folder of the bucket's name. */
export const bucketFiles = {
  policy: 'policy.json',
  tagging: 'tagging.xml',
  encryption: 'bucket-encryption.xml',
} as const;

export type BucketPart = keyof typeof bucketFiles;

/** What MinIO keeps of a bucket and Coffer does not: an import says that it cannot be taken. By the name in the report. */
export const foreignFiles: Readonly<Record<string, string>> = {
  'object-lock.xml': 'olock',
  'versioning.xml': 'versioning',
  'lifecycle.xml': 'lifecycle',
  'notification.xml': 'notification',
  'quota.json': 'quota',
  'cors.xml': 'cors',
};

/** What a report calls a part. */
export const reportNames: Readonly<Record<BucketPart, string>> = {
  policy: 'policy',
  tagging: 'tagging',
  encryption: 'sse',
};

/** Bytes unpacked; a bucket has some KiB. */
export const bucketArchiveLimits = { entries: 20_000, size: 64 * 1024 * 1024 } as const;
