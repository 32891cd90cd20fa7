/** Operations that MinIO knows by another name than the S3 documentation. */
const minioNames: Readonly<Record<string, string>> = {
  CreateBucket: 'PutBucket',
  CreateMultipartUpload: 'NewMultipartUpload',
  DeleteObjects: 'DeleteMultipleObjects',
  ListObjects: 'ListObjectsV1',
  ListParts: 'ListObjectParts',
  UploadPart: 'PutObjectPart',
  UploadPartCopy: 'CopyObjectPart',
};

/** The name of an operation by which MinIO's logs, traces and, in lower case, metrics know it. */
export function apiName(operation: string): string {
  return minioNames[operation] ?? operation;
}
