import type { S3Error } from '../s3/s3-error.ts';
import type { SignatureScope } from './signed-request.ts';

/** `<access key>/<date>/<region>/<service>/aws4_request`. The access key may hold slashes, so that it is read from the end. */
export function parseCredential(
  credential: string,
  fail: (why: string) => S3Error,
): { readonly accessKey: string; readonly scope: SignatureScope } {
  const parts = credential.split('/');
  const [date, region, service, terminator] = parts.slice(-4);
  const accessKey = parts.slice(0, -4).join('/');
  if (date === undefined || region === undefined || service === undefined || accessKey === '') {
    throw fail(
      `the credential must be <access key>/<yyyymmdd>/<region>/<service>/aws4_request, not "${credential.slice(0, 128)}"`,
    );
  }
  if (terminator !== 'aws4_request') throw fail(`the credential must end with "aws4_request", not "${terminator}"`);
  if (!/^\d{8}$/.test(date)) throw fail(`the credential's date must be yyyymmdd, not "${date.slice(0, 32)}"`);
  return { accessKey, scope: { date, region, service } };
}
