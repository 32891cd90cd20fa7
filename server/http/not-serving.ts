import { S3Error } from '../../protocol/s3/s3-error.ts';

/** This server waits or goes: nothing failed. Its own log says once why; the requests that meet it say so only to who looks. */
export class NotServing extends S3Error {
  constructor() {
    super('ServiceUnavailable');
  }
}
