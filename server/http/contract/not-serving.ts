import { describeWait, waitsForHeader, type WaitsFor } from '../../../protocol/waits-for.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/**
 * Returns the error of a server that starts or stops. This is not a failure: its own log gives the reason once, and each refused request is
 * logged only at the level debug. The answer says what the server waits for, without addresses and names.
 */
export function notServing(waitsFor?: WaitsFor): S3Error {
  if (waitsFor === undefined) return new S3Error('ServiceUnavailable', undefined, { cause: starting });
  const message = `The server is not ready: ${describeWait(waitsFor)}. Please try again.`;
  // The answer to a HEAD has no message.
  return new S3Error('ServiceUnavailable', message, { cause: starting, headers: { [waitsForHeader]: waitsFor } });
}

const starting = Symbol('this server does not serve now');

/** Reports if an error is that of `notServing`. */
export function isNotServing(error: unknown): boolean {
  return error instanceof S3Error && error.cause === starting;
}
