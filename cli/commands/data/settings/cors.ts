import { childrenOf, readXml, textOf, type XmlNode } from '../../../../protocol/s3/xml-reader.ts';
import { parseBucket, type RemoteTarget } from '../../../config/target.ts';
import { deleteBucketCors, getBucketCors, putBucketCors } from '../../../s3/bucket-settings.ts';
import { readDocument } from '../../../terminal/io.ts';
import type { Context } from '../../context.ts';

/** The document comes from a file, or from standard input for `-`. The server checks it. */
export async function setCors(context: Context, args: readonly string[]): Promise<void> {
  const [argument = '', file = ''] = args;
  const target = await bucketOf(context, argument);
  const document = await readDocument(context.io, file);
  await putBucketCors(await context.client(target.alias), target.bucket, document);
  const message = `Set bucket CORS config successfully for \`${argument}\`.`;
  context.output.message(message, { message });
}

export async function getCors(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await bucketOf(context, argument);
  const document = await getBucketCors(await context.client(target.alias), target.bucket);
  if (document === undefined) {
    context.output.message(`No bucket CORS configuration found for \`${argument}\`.`, { status: 'not found' });
    return;
  }
  context.output.message(document, { cors: { CORSRules: rulesOf(document) } });
}

export async function removeCors(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await bucketOf(context, argument);
  await deleteBucketCors(await context.client(target.alias), target.bucket);
  const message = `Removed bucket CORS config successfully for \`${argument}\`.`;
  context.output.message(message, { message });
}

async function bucketOf(context: Context, argument: string): Promise<RemoteTarget> {
  return parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
}

const lists = ['AllowedHeader', 'AllowedMethod', 'AllowedOrigin', 'ExposeHeader'];

function rulesOf(document: string): readonly Record<string, unknown>[] {
  return childrenOf(readXml(document, { maxBytes: 1_048_576 }), 'CORSRule').map((rule) => ({
    ...Object.fromEntries(lists.map((name) => [name, textsOf(rule, name)])),
    ID: textOf(rule, 'ID') ?? '',
    MaxAgeSeconds: Number(textOf(rule, 'MaxAgeSeconds') ?? 0),
  }));
}

function textsOf(node: XmlNode, name: string): readonly string[] {
  return childrenOf(node, name).map(({ text }) => text);
}
