import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';
import { getBucketEncryption, headBucket, listBuckets } from '../../s3/buckets.ts';
import type { S3Client } from '../../s3/client.ts';
import { allObjects, isFolder } from '../../s3/list-objects.ts';
import { headObject } from '../../s3/objects.ts';
import { isNotFound } from '../../s3/s3-response-error.ts';
import { formatSize, formatTime, printable } from '../../terminal/format.ts';
import { displayName, parseRemote, type RemoteTarget } from '../../config/target.ts';

/** Shows the properties of an object or bucket; with `recursive` those of every object below a prefix. */
export async function statTarget(
  context: Context,
  [argument = '']: readonly string[],
  options: { readonly recursive?: boolean },
): Promise<void> {
  const target = parseRemote(argument, await context.aliases());
  const client = await context.client(target.alias);
  const { bucket, key } = target;
  if (bucket === '') throw new CliError('BadArgument', `Invalid target \`${argument}\`: name a bucket or object`);
  if (options.recursive === true) {
    for await (const object of allObjects(client, bucket, key)) await statObject(context, client, target, object.key);
  } else if (key === '') {
    await statBucket(context, client, target);
  } else {
    await statObjectOrFolder(context, client, target);
  }
}

async function statObjectOrFolder(context: Context, client: S3Client, target: RemoteTarget): Promise<void> {
  try {
    await statObject(context, client, target, target.key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const prefix = target.key.endsWith('/') ? target.key : `${target.key}/`;
    if (!(await isFolder(client, target.bucket, prefix))) {
      throw new CliError('NotFound', `Object \`${target.text}\` does not exist`, { cause: error });
    }
    const name = displayName(target, prefix);
    context.output.message(block({ Name: name, Type: 'folder' }), { name, type: 'folder', size: 0 });
  }
}

async function statObject(context: Context, client: S3Client, target: RemoteTarget, key: string): Promise<void> {
  const { size, etag, lastModified, headers } = await headObject(client, target.bucket, key);
  const name = displayName(target, key);
  const metadata = Object.fromEntries(
    Object.entries(headers)
      .filter(
        ([header]) =>
          shownHeaders.has(header) ||
          header.startsWith('x-amz-meta-') ||
          header.startsWith('x-amz-server-side-encryption'),
      )
      .map(([header, value]) => [headerName(header), String(value)]),
  );
  const encryption = describeEncryption(
    headers['x-amz-server-side-encryption'],
    headers['x-amz-server-side-encryption-aws-kms-key-id'],
  );
  const lines = {
    Name: printable(name),
    Date: formatTime(lastModified),
    Size: `${formatSize(size)} (${size} bytes)`,
    ETag: etag,
    Type: 'file',
    ...(encryption === '' ? {} : { Encryption: encryption }),
  };
  const details = Object.entries(metadata).map(([header, value]) => `  ${header.padEnd(18)}: ${printable(value)}`);
  const human = details.length === 0 ? block(lines) : `${block(lines)}\n${line('Metadata', '')}\n${details.join('\n')}`;
  await context.output.line(`${human}\n`, { name, lastModified, size, etag, type: 'file', metadata });
}

const shownHeaders = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-storage-class',
]);

async function statBucket(context: Context, client: S3Client, target: RemoteTarget): Promise<void> {
  const { bucket } = target;
  await headBucket(client, bucket);
  const rule = await getBucketEncryption(client, bucket);
  const created = (await listBuckets(client).catch(() => [])).find(({ name }) => name === bucket)?.created;
  const algorithm = rule === undefined ? undefined : algorithms[rule.scheme];
  const keyId = rule?.scheme === 'SSE-KMS' ? rule.keyName : undefined;
  context.output.message(
    `${block({
      Name: bucket,
      ...(created === undefined ? {} : { Date: formatTime(created) }),
      Type: 'folder',
      Encryption: describeEncryption(algorithm, keyId) || 'not set',
    })}\n`,
    {
      name: bucket,
      type: 'folder',
      lastModified: created,
      Encryption: { algorithm, keyId },
    },
  );
}

const algorithms = { 'SSE-S3': 'AES256', 'SSE-KMS': 'aws:kms', none: undefined } as const;

function describeEncryption(algorithm: unknown, keyId: unknown): string {
  if (algorithm === 'AES256') return 'SSE-S3';
  if (algorithm === 'aws:kms') return typeof keyId === 'string' ? `SSE-KMS (${keyId})` : 'SSE-KMS';
  return '';
}

function block(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([label, value]) => line(label, value))
    .join('\n');
}

function line(label: string, value: string): string {
  return `${label.padEnd(10)}: ${value}`.trimEnd();
}

function headerName(header: string): string {
  return header.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
