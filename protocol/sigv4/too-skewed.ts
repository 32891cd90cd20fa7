import { S3Error } from '../s3/s3-error.ts';

/**
 * The refusal of a request whose time is too far from the time here. The message has both times, since many clients, STS and the admin API
 * show nothing of the elements that AWS has for them. `allowedMs` are milliseconds.
 */
export function tooSkewed(request: Date, now: Date, allowedMs: number): S3Error {
  const [RequestTime, ServerTime] = [request.toISOString(), now.toISOString()];
  const message = `The difference between the request time (${RequestTime}) and the current time (${ServerTime}) is too large.`;
  return new S3Error('RequestTimeTooSkewed', message, {
    details: { RequestTime, ServerTime, MaxAllowedSkewMilliseconds: String(allowedMs) },
  });
}
