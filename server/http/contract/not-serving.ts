import { S3Error } from '../../../protocol/s3/s3-error.ts';

/**
 * Returns the error of a server that starts or stops. This is not a failure: its own log gives the reason once, and each refused request is
 * logged only at the level debug.
 */
export function notServing(): S3Error {
  return new S3Error('ServiceUnavailable', undefined, { cause: starting });
}

const starting = Symbol('this server does not serve now');

/** Reports if an error is that of `notServing`. */
export function isNotServing(error: unknown): boolean {
  return error instanceof S3Error && error.cause === starting;
}
