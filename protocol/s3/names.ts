/** Why a bucket name is refused; undefined when it is good. */
export function bucketNameProblem(_name: string): string | undefined {
  throw new Error('not yet');
}

/** Throws S3Error InvalidBucketName saying what is wrong. */
export function checkBucketName(_name: string): void {
  throw new Error('not yet');
}

/** Throws KeyTooLongError, InvalidArgument or InvalidURI. Keys are literal: `../x`, `.` and `a//b` are good names, never paths. */
export function checkObjectKey(_key: string): void {
  throw new Error('not yet');
}

/** Bucket and key of a path-style request path, percent-decoded and checked. `/` has neither. */
export function parseResourcePath(_rawPath: string): { readonly bucket?: string; readonly key?: string } {
  throw new Error('not yet');
}
