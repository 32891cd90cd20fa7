import type { Context } from '../context.ts';
import { listBuckets } from '../../s3/buckets.ts';
import type { S3Client } from '../../s3/client.ts';
import { listObjects, listUploads, type Listed } from '../../s3/list-objects.ts';
import { formatSize, formatTime, printable } from '../../terminal/format.ts';
import { parseRemote, type RemoteTarget } from '../../config/target.ts';

interface ListOptions {
  readonly recursive?: boolean;
  readonly incomplete?: boolean;
  readonly summarize?: boolean;
}

interface Row {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  readonly size: number;
  readonly time: Date;
  readonly etag: string;
  readonly storageClass?: string;
}

export async function list(context: Context, [argument = '']: readonly string[], options: ListOptions): Promise<void> {
  const target = parseRemote(argument, await context.aliases());
  const client = await context.client(target.alias);
  let totalObjects = 0;
  let totalSize = 0;
  for await (const row of rows(client, target, options)) {
    const { name, kind, size, time, etag, storageClass } = row;
    const shown = `[${formatTime(time)}] ${formatSize(size).padStart(7)} ${storageClass === undefined ? '' : `${storageClass} `}${printable(name)}`;
    await context.output.line(shown, {
      type: kind,
      lastModified: time,
      size,
      key: name,
      etag,
      url: `${target.alias.url}/`,
      storageClass,
    });
    totalObjects += 1;
    totalSize += size;
  }
  if (options.summarize !== true) return;
  context.output.message(`\nTotal Size: ${formatSize(totalSize)}\nTotal Objects: ${totalObjects}`, {
    totalObjects,
    totalSize,
  });
}

async function* rows(
  client: S3Client,
  target: RemoteTarget,
  options: ListOptions,
): AsyncGenerator<Row, void, undefined> {
  const { bucket, key } = target;
  const recursive = options.recursive === true;
  if (bucket === '') {
    const inside = recursive || options.incomplete === true;
    for (const { name, created } of await listBuckets(client)) {
      if (inside) yield* rowsOfBucket(client, { ...target, bucket: name }, options);
      else yield { ...folder(`${name}/`), time: created };
    }
    return;
  }
  if (options.incomplete === true) {
    yield* uploadRows(client, target, recursive);
    return;
  }
  const shown = folderOf(key);
  for await (const listed of entries(client, bucket, key, recursive)) {
    if (listed.kind === 'prefix') {
      yield folder(listed.prefix.slice(shown(listed.prefix)));
    } else {
      const { key, size, lastModified, etag, storageClass } = listed.object;
      yield { name: key.slice(shown(key)), kind: 'file', size, time: lastModified, etag, storageClass };
    }
  }
}

/** The names of the rows begin with the bucket. */
async function* rowsOfBucket(client: S3Client, target: RemoteTarget, options: ListOptions): AsyncGenerator<Row> {
  for await (const row of rows(client, target, options)) yield { ...row, name: `${target.bucket}/${row.name}` };
}

/** Lists the content of a folder for `dir` without a slash, unless another name begins with it. */
async function* entries(client: S3Client, bucket: string, key: string, recursive: boolean): AsyncGenerator<Listed> {
  const isName = key !== '' && !key.endsWith('/');
  if (!isName || recursive) {
    // A name means the object and the folder of this name, not other keys that begin with it.
    for await (const listed of listObjects(client, { bucket, prefix: key, recursive })) {
      const name = listed.kind === 'prefix' ? listed.prefix : listed.object.key;
      if (!isName || name === key || name.startsWith(`${key}/`)) yield listed;
    }
    return;
  }
  const [only, ...others] = await firstTwo(client, bucket, key);
  const isFolder = only?.kind === 'prefix' && only.prefix === `${key}/` && others.length === 0;
  yield* listObjects(client, { bucket, prefix: isFolder ? `${key}/` : key, recursive: false });
}

async function firstTwo(client: S3Client, bucket: string, prefix: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for await (const listed of listObjects(client, { bucket, prefix, recursive: false, limit: 2 })) found.push(listed);
  return found;
}

async function* uploadRows(
  client: S3Client,
  target: RemoteTarget,
  recursive: boolean,
): AsyncGenerator<Row, void, undefined> {
  const shown = folderOf(target.key);
  for await (const { key, initiated } of listUploads(client, {
    bucket: target.bucket,
    prefix: target.key,
    recursive,
  })) {
    yield { name: key.slice(shown(key)), kind: 'file', size: 0, time: initiated, etag: '' };
  }
}

/** Returns the length of the prefix that the argument already names. Shown names begin after it. */
function folderOf(key: string): (name: string) => number {
  const asFolder = key === '' || key.endsWith('/') ? key : `${key}/`;
  return (name) => (name.startsWith(asFolder) && name !== asFolder ? asFolder.length : key.lastIndexOf('/') + 1);
}

function folder(name: string): Row {
  return { name, kind: 'folder', size: 0, time: new Date(), etag: '' };
}
