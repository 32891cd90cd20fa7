import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, urlencoded, type Request, type Response } from 'express';
import { z } from 'zod';
import { ZipFile } from 'yazl';
import { S3Error } from '../../../../protocol/s3/s3-error.ts';
import { checkObjectKey } from '../../../../protocol/s3/names.ts';
import { mapLimit } from '../../../../platform/async/concurrency.ts';
import { readable } from '../../../streams/chunks.ts';
import type { ObjectLayer } from '../../../objects/contract/object-layer.ts';
import type { ConsoleLog } from '../../services.ts';
import { ArchiveNames } from './archive-names.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { attachment, fileNameOf, isPrematureClose } from './content-routes.ts';
import { maxDocumentBytes } from '../limit-body-memory.ts';
import { consoleError } from '../console-error.ts';
import type { RequestError } from '../../../../protocol/request-error.ts';

/** The keys of all objects are in memory while an archive is streamed. */
const maxObjects = 10_000;

/** Archives that one server makes at the same time. Each reads objects as fast as its client takes them. */
const maxArchives = 4;

const texts = z.union([z.string(), z.array(z.string())]).default([]);
const archiveForm = z.strictObject({
  /** The folder of the page, which names in the archive leave out. */
  prefix: z.string().max(1024).default(''),
  key: texts,
  /** Prefixes that end in `/`, with everything below them. */
  folder: texts,
});

const readFormBody = urlencoded({ extended: false, limit: maxDocumentBytes, parameterLimit: 2_000 });

const unreadable = 'no policy of yours allows s3:GetObject';

interface Entry {
  readonly key: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Streams the chosen objects as a zip archive. The entries are stored, not compressed: most large objects are compressed already, and the
 * server spends no time on it. Nothing is written to disk, and one object is read at a time.
 */
export function archiveRoutes(objects: ObjectLayer, authorizer: Authorizer, log: ConsoleLog): Router {
  const router = Router();
  let running = 0;
  router.post('/buckets/:bucket/archive', async (request: Request, response: Response) => {
    const bucket = bucketOf(request);
    const exchange = { request, response };
    if (!(await authorizer.allowsSome(exchange, 's3:GetObject', `${bucket}/`))) {
      await authorizer.require(exchange, 's3:GetObject', `${bucket}/*`);
    }
    const { prefix, keys, folders } = await readArchiveForm(exchange);
    if (running >= maxArchives) {
      throw new S3Error('SlowDown', `This server makes ${maxArchives} archives already. Try again later.`);
    }
    running += 1;
    try {
      const archive = new Archive(objects, authorizer, exchange, bucket);
      const entries = await archive.collect(keys, folders);
      // The page asks first, because it does not see the answer to its form.
      if (request.query['check'] === '1') response.status(204).end();
      else await archive.stream(prefix, entries);
    } catch (error) {
      if (!response.headersSent) throw error;
      // The client must not take a partial archive for a complete one. A cancelled download is not logged.
      response.destroy();
      if (!isPrematureClose(error)) log.error({ err: error, bucket }, 'an archive for the console failed');
    } finally {
      running -= 1;
    }
  });
  return router;
}

async function readArchiveForm({ request, response }: Exchange) {
  await new Promise<void>((resolve, reject) => {
    readFormBody(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
  const form = archiveForm.parse(request.body);
  const keys = [form.key].flat();
  const folders = [form.folder].flat();
  if (keys.length + folders.length === 0) throw consoleError('BadRequest', 'Choose at least one object or folder.');
  for (const key of keys) checkObjectKey(key);
  if (folders.some((folder) => folder.length > 1024)) throw consoleError('BadRequest', 'A folder name is too long.');
  return { prefix: form.prefix, keys, folders };
}

class Archive {
  readonly #objects: ObjectLayer;
  readonly #authorizer: Authorizer;
  readonly #exchange: Exchange;
  readonly #bucket: string;
  readonly #leftOut: string[] = [];

  constructor(objects: ObjectLayer, authorizer: Authorizer, exchange: Exchange, bucket: string) {
    this.#objects = objects;
    this.#authorizer = authorizer;
    this.#exchange = exchange;
    this.#bucket = bucket;
  }

  /** Lists what is chosen. A chosen key that the user may not read refuses the call; below a folder it is left out and named. */
  async collect(keys: readonly string[], folders: readonly string[]): Promise<readonly Entry[]> {
    const bucket = this.#bucket;
    const found = new Map<string, Entry>();
    const chosen = await mapLimit(keys, 16, async (key) => {
      await this.#authorizer.require(this.#exchange, 's3:GetObject', `${bucket}/${key}`);
      return this.#authorizer.hideAbsence(this.#exchange, bucket, () => this.#objects.headObject(bucket, key));
    });
    for (const { key, size, lastModified } of chosen) found.set(key, { key, size, modified: lastModified });
    for (const prefix of folders) {
      await this.#authorizer.require(this.#exchange, 's3:ListBucket', bucket, { 's3:prefix': [prefix] });
      for (let after: string | undefined = ''; after !== undefined;) {
        const page = await this.#objects.listObjects({ bucket, prefix, delimiter: '', after, limit: 1_000 });
        for (const { key, size, modified } of page.objects) {
          if (await this.#authorizer.allows(this.#exchange, 's3:GetObject', `${bucket}/${key}`)) {
            found.set(key, { key, size, modified: new Date(modified) });
          } else this.#leaveOut(key, unreadable);
        }
        if (found.size + this.#leftOut.length > maxObjects) throw tooMany(bucket, prefix);
        after = page.next;
      }
    }
    return [...found.values()];
  }

  async stream(prefix: string, entries: readonly Entry[]): Promise<void> {
    const { response } = this.#exchange;
    const zip = new ZipFile();
    const names = new ArchiveNames();
    const name = `${fileNameOf(prefix === '' ? this.#bucket : prefix)}.zip`;
    response.status(200).set({
      'content-type': 'application/zip',
      'content-disposition': attachment(name),
      'cache-control': 'private, no-store',
    });
    const sent = pipeline(zip.outputStream, response);
    sent.catch(() => undefined);
    zip.on('error', (error: Error) => {
      if (zip.outputStream instanceof Readable) zip.outputStream.destroy(error);
    });
    for (const entry of entries) await this.#add(zip, names, prefix, entry, sent);
    if (this.#leftOut.length > 0) {
      zip.addBuffer(Buffer.from(this.#leftOut.join('')), names.nameOf('', 'left out.txt'), { compress: false });
    }
    zip.end();
    await sent;
  }

  /** Resolves when the entry is in the archive: one object is open at a time. */
  // oxlint-disable-next-line max-params -- the state of one archive
  async #add(zip: ZipFile, names: ArchiveNames, prefix: string, entry: Entry, sent: Promise<void>): Promise<void> {
    const { key, modified: mtime } = entry;
    if (key.endsWith('/') && entry.size === 0) {
      if (key !== prefix) zip.addEmptyDirectory(`${names.nameOf(prefix, key.slice(0, -1))}/`, { mtime });
      return;
    }
    let object;
    try {
      object = await this.#open(key);
    } catch (error) {
      // It was deleted meanwhile, or needs a key of the client.
      this.#leaveOut(key, error instanceof S3Error ? error.message : 'it cannot be read');
      return;
    }
    const { size } = object.info;
    const body = readable(object.read({ start: 0, end: size }));
    const ended = new Promise<void>((resolve, reject) => {
      body.once('end', resolve).once('error', reject).once('close', resolve);
    });
    try {
      zip.addReadStream(body, names.nameOf(prefix, key), { compress: false, mtime, mode: 0o100644, size });
      await Promise.race([ended, sent]);
    } finally {
      body.destroy();
    }
  }

  /** Minutes may have passed since the object was chosen: its key may have another object now, or the user no right any more. */
  async #open(key: string) {
    const decision = await this.#authorizer.decide(this.#exchange, 's3:GetObject', `${this.#bucket}/${key}`);
    if (decision?.kind === 'deny') throw new S3Error('AccessDenied', unreadable);
    return this.#objects.getObject(this.#bucket, key, { onlyId: decision?.objectId });
  }

  #leaveOut(key: string, why: string): void {
    this.#leftOut.push(`${key}: ${why}\n`);
  }
}

function tooMany(bucket: string, prefix: string): RequestError {
  const command = `coffer cp --recursive ALIAS/${bucket}/${prefix} FOLDER`;
  return consoleError(
    'TooLarge',
    `An archive has at most ${maxObjects.toLocaleString('en')} objects. For more, use the client: ${command}`,
  );
}
