import { createHmac } from 'node:crypto';
import { deriveSigningKey, sign } from '../../../protocol/sigv4/signing-key.ts';
import { formatTimestamp } from '../../../protocol/sigv4/timestamp.ts';

export const formBoundary = 'form-boundary';
export const formHeaders = { 'content-type': `multipart/form-data; boundary=${formBoundary}` };

interface FormFile {
  readonly content: string | Buffer;
  readonly filename?: string | undefined;
}

/** The body of a form: its fields, and then its file, unless it has none. */
export function formBody(fields: Readonly<Record<string, string>>, file: FormFile | undefined, after = ''): Buffer {
  const disposition = (names: string) => `--${formBoundary}\r\nContent-Disposition: form-data; ${names}\r\n\r\n`;
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`${disposition(`name="${name}"`)}${value}\r\n`),
  );
  if (file !== undefined) {
    const filename = file.filename === undefined ? '' : `; filename="${file.filename}"`;
    parts.push(Buffer.from(disposition(`name="file"${filename}`)), Buffer.from(file.content), Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from(`${after}--${formBoundary}--\r\n`)]);
}

interface Signer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

interface PolicyOptions {
  readonly bucket?: string;
  readonly region?: string;
  readonly now?: Date;
  /** Seconds from now. */
  readonly expires?: number;
  /** Further conditions; those of the fields are added. */
  readonly conditions?: readonly unknown[];
}

/** Adds the policy and the signature (version 4) to fields, as `generate_presigned_post` of boto3 does. */
export function signedFields(
  fields: Readonly<Record<string, string>>,
  signer: Signer,
  { bucket = 'bucket', region = 'us-east-1', now = new Date(), expires = 600, conditions = [] }: PolicyOptions = {},
): Record<string, string> {
  const date = formatTimestamp(now);
  const scope = { date: date.slice(0, 8), region, service: 's3' };
  const all = {
    ...fields,
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${signer.accessKey}/${scope.date}/${region}/s3/aws4_request`,
    'x-amz-date': date,
    ...(signer.sessionToken !== undefined && { 'x-amz-security-token': signer.sessionToken }),
  };
  const policy = encodePolicy(all, { bucket, now, expires, conditions });
  return { ...all, policy, 'x-amz-signature': sign(deriveSigningKey(signer.secretKey, scope), policy) };
}

/** The same by version 2. */
export function signedFieldsV2(
  fields: Readonly<Record<string, string>>,
  signer: Signer,
  { bucket = 'bucket', now = new Date(), expires = 600, conditions = [] }: PolicyOptions = {},
): Record<string, string> {
  const policy = encodePolicy(fields, { bucket, now, expires, conditions });
  const signature = createHmac('sha1', signer.secretKey).update(policy).digest('base64');
  return { ...fields, AWSAccessKeyId: signer.accessKey, policy, signature };
}

function encodePolicy(
  fields: Readonly<Record<string, string>>,
  { bucket, now, expires, conditions }: Required<Omit<PolicyOptions, 'region'>>,
): string {
  const given = JSON.stringify(conditions).toLowerCase();
  const ofFields = Object.entries(fields)
    .filter(([name]) => !name.startsWith('x-ignore-') && !given.includes(`"$${name.toLowerCase()}"`))
    .map(([name, value]) => ({ [name]: value }));
  const expiration = new Date(now.getTime() + expires * 1_000).toISOString();
  const document = { expiration, conditions: [{ bucket }, ...ofFields, ...conditions] };
  return Buffer.from(JSON.stringify(document)).toString('base64');
}
