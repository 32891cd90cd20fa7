import { afterEach, describe, expect, it } from 'vitest';
import { S3Error } from './s3-error.ts';

const stackOf = (error: Error) => error.stack?.split('\n').slice(1) ?? [];

afterEach(() => {
  S3Error.tracesCallers = true;
});

describe('the stack of an S3Error', () => {
  it('is kept where nothing turned it off', () => {
    expect(stackOf(new S3Error('NoSuchKey'))).not.toEqual([]);
  });

  it('is left out of refusals by a server, and kept for its own failures', () => {
    S3Error.tracesCallers = false;
    expect(stackOf(new S3Error('NoSuchKey'))).toEqual([]);
    expect(stackOf(new S3Error('InternalError'))).not.toEqual([]);
    expect(stackOf(new Error('another one'))).not.toEqual([]);
  });
});
