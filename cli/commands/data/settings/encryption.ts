import type { BucketEncryptionRule } from '../../../../protocol/s3/bucket-encryption.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Context } from '../../context.ts';
import {
  encryptionSetting,
  getBucketEncryption,
  withDefaultEncryption,
  withoutDefaultEncryption,
} from '../../../s3/buckets.ts';
import { editSetting } from '../../../s3/edit-setting.ts';
import { parseBucket } from '../../../config/target.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

/** The arguments are `sse-s3 TARGET` or `sse-kms [KEY] TARGET`. */
export async function setEncryption(context: Context, arguments_: readonly string[]): Promise<void> {
  const [scheme = '', ...rest] = arguments_;
  const { rule, argument } = parseRule(scheme, rest);
  const { alias, bucket } = parseBucket(trimmed(argument), await context.aliases());
  const client = await context.client(alias);
  await editSetting(client, bucket, encryptionSetting, (document) => withDefaultEncryption(document, rule));
  context.output.message(`Auto encryption configuration has been set successfully for ${argument}`, {
    op: 'set',
    url: argument,
    encryption: describe(rule),
  });
}

export async function showEncryption(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { alias, bucket } = parseBucket(trimmed(argument), await context.aliases());
  const rule = await getBucketEncryption(await context.client(alias), bucket);
  const fields = { op: 'info', url: argument };
  const blocks = rule?.blocked?.includes('SSE-C') === true;
  const also = blocks ? '; keys of clients (SSE-C) are blocked' : '';
  const blocked = blocks ? { blocked: ['SSE-C'] } : {};
  if (rule === undefined) {
    const code = 'ServerSideEncryptionConfigurationNotFoundError';
    const cause = new ResponseError(code, 'The bucket has no default encryption', { status: 404 });
    throw new ProgramError('NotFound', `Auto encryption is not enabled for ${argument}`, { cause });
  }
  if (rule.scheme === 'none') {
    context.output.message(`Auto encryption is not enabled for ${argument}${also}`, { ...fields, ...blocked });
    return;
  }
  const shown = describe(rule);
  // Other clients print the name of the algorithm in the configuration here.
  const encryption = { ...shown, algorithm: rule.scheme === 'SSE-S3' ? 'AES256' : 'aws:kms' };
  const key = encryption.keyId === undefined ? '' : ` with KeyID: ${encryption.keyId}`;
  const human = `Auto encryption '${shown.algorithm}' is enabled${key}${also}`;
  context.output.message(human, { ...fields, encryption, ...blocked });
}

export async function clearEncryption(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { alias, bucket } = parseBucket(trimmed(argument), await context.aliases());
  let blocks = false;
  await editSetting(await context.client(alias), bucket, encryptionSetting, (document) => {
    const left = document && withoutDefaultEncryption(document);
    blocks = left !== undefined;
    return left;
  });
  const also = blocks ? '. What the bucket blocks stays blocked: `encrypt info` shows it' : '';
  context.output.message(`Auto encryption configuration has been cleared successfully for ${argument}${also}`, {
    op: 'clear',
    url: argument,
  });
}

/** A rule that sets a default. */
type DefaultRule = Exclude<BucketEncryptionRule, { readonly scheme: 'none' }>;

function parseRule(scheme: string, rest: readonly string[]): { rule: DefaultRule; argument: string } {
  const [first, second] = rest;
  switch (scheme.toLowerCase()) {
    case 'sse-s3':
      if (first !== undefined && second === undefined) return { rule: { scheme: 'SSE-S3' }, argument: first };
      throw new ProgramError('BadArgument', 'Write `encrypt set sse-s3 ALIAS/BUCKET`');
    case 'sse-kms':
      if (first !== undefined && second !== undefined) {
        return { rule: { scheme: 'SSE-KMS', keyName: first }, argument: second };
      }
      // The default key of the server.
      if (first !== undefined) return { rule: { scheme: 'SSE-KMS' }, argument: first };
      throw new ProgramError('BadArgument', 'Write `encrypt set sse-kms [KEY] ALIAS/BUCKET`');
    default:
      throw new ProgramError('BadArgument', `Unknown encryption \`${scheme}\`: it is sse-s3 or sse-kms`);
  }
}

function describe(rule: DefaultRule): { readonly algorithm: string; readonly keyId?: string } {
  if (rule.scheme === 'SSE-S3') return { algorithm: 'sse-s3' };
  return { algorithm: 'sse-kms', ...(rule.keyName !== undefined && { keyId: rule.keyName }) };
}

function trimmed(argument: string): string {
  return argument.replace(/\/+$/, '');
}
