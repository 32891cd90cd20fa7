import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3Call } from './operation.ts';

const overridable = [
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'cache-control',
  'expires',
] as const;

/**
 * `response-content-type` and its kin replace headers of a GET or HEAD; undefined where there is no query at all.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function responseOverrides(call: S3Call): Readonly<Record<string, string>> | undefined {
  if (call.query.size === 0) return undefined;
  const overrides: Record<string, string> = {};
  for (const name of overridable) {
    const value = call.query.get(`response-${name}`);
    if (value === undefined) continue;
    if (call.auth.principal.kind === 'anonymous') {
      throw new S3Error(
        'InvalidRequest',
        'Request specific response headers cannot be used for anonymous GET requests.',
      );
    }
    overrides[name] = headerValue(value);
  }
  return overrides;
}

/** Text as UTF-8 bytes in the form that `node:http` writes; line breaks and other control characters would forge headers. */
function headerValue(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) {
    throw new S3Error('InvalidArgument', 'A response header must not contain control characters.');
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}
