/** Operations that MinIO's metrics know by another name than the S3 documentation. */
const minioNames: Readonly<Record<string, string>> = {
  CreateBucket: 'putbucket',
  CreateMultipartUpload: 'newmultipartupload',
  DeleteObjects: 'deletemultipleobjects',
  ListObjects: 'listobjectsv1',
  ListParts: 'listobjectparts',
  UploadPart: 'putobjectpart',
  UploadPartCopy: 'copyobjectpart',
};

/** The label `api` of an operation. */
export function apiLabel(operation: string): string {
  return minioNames[operation] ?? operation.toLowerCase();
}
