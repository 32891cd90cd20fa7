import { createHmac } from 'node:crypto';
import { deriveSigningKey, formatScope } from '../../protocol/sigv4/signing-key.ts';
import { formatTimestamp } from '../../protocol/sigv4/timestamp.ts';
import type { Alias } from '../config/aliases.ts';

interface PostUpload {
  readonly bucket: string;
  /** The whole key, or its beginning. */
  readonly key: string;
  readonly isPrefix: boolean;
  readonly contentType?: string | undefined;
  readonly now: Date;
  /** Seconds. */
  readonly expires: number;
  readonly region: string;
}

/**
 * Returns the fields of a form that uploads one object without keys of its own. The caller adds `key` for a prefix, and `file` at the end.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html
 */
export function postFields(alias: Alias, upload: PostUpload): Readonly<Record<string, string>> {
  const { bucket, key, isPrefix, contentType, now, expires, region } = upload;
  const timestamp = formatTimestamp(now);
  const scope = { date: timestamp.slice(0, 8), region, service: 's3' };
  const fields: Record<string, string> = {
    bucket,
    ...(!isPrefix && { key }),
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${alias.accessKey}/${formatScope(scope)}`,
    'x-amz-date': timestamp,
    ...(alias.sessionToken !== undefined && { 'x-amz-security-token': alias.sessionToken }),
    ...(contentType !== undefined && { 'content-type': contentType }),
  };
  const conditions: (readonly [string, string, string])[] = Object.entries(fields).map(([name, value]) => [
    'eq',
    `$${name}`,
    value,
  ]);
  if (isPrefix) conditions.push(['starts-with', '$key', key]);
  const expiration = new Date(now.getTime() + expires * 1_000).toISOString();
  const policy = Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64');
  const signingKey = deriveSigningKey(alias.secretKey, scope);
  return { ...fields, policy, 'x-amz-signature': createHmac('sha256', signingKey).update(policy).digest('hex') };
}
