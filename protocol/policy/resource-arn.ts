export const s3Arn = 'arn:aws:s3:::';
export const kmsArn = 'arn:minio:kms:::';

/** `bucket/key` of `arn:aws:s3:::bucket/key`, and the key's name of `arn:minio:kms:::name`. */
export function bareResource(resource: string): string {
  if (resource.startsWith(s3Arn)) return resource.slice(s3Arn.length);
  return resource.startsWith(kmsArn) ? resource.slice(kmsArn.length) : resource;
}
