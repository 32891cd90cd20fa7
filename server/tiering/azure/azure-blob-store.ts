import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  type BlobDownloadResponseParsed,
  type BlockBlobClient,
  type ContainerClient,
  BlobServiceClient,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { ownChunks, type Chunks } from '../../streams/chunks.ts';
import {
  type BlobId,
  type BlobRange,
  type BlobStore,
  type WriteOptions,
  blobAltered,
  blobMissing,
  blobTruncated,
} from '../../store/blob-store.ts';
import { arriving } from '../../store/idle-body.ts';
import { blobObjectKey, type ListedBlob } from '../../store/s3/list-blobs.ts';
import { inParts } from '../../store/s3/multipart-upload.ts';
import { azureFailure } from './azure-errors.ts';
import { copiedBody } from '../../store/copied-body.ts';
import { StoreError, callFailure, type CallFailure } from '../../store/store-error.ts';

interface AzureAddress {
  /** The name of the place in messages. */
  readonly what: string;
  /** The URL of the account. */
  readonly endpoint: string;
  readonly container: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** `Hot`, `Cool` or `Cold`; empty for the default of the account. */
  readonly accessTier: string;
  readonly accountName: string;
  readonly accountKey: string;
}

/** Milliseconds of a call, and attempts in all. */
export interface AzureTimeouts {
  readonly answer: number;
  readonly idle: number;
  readonly tries: number;
}

const defaultAzureTimeouts: AzureTimeouts = { answer: 30_000, idle: 10_000, tries: 4 };

/** A blob of blocks may have 50,000 of them, which are 390 GiB. */
const BLOCK_BYTES = 8 * 1024 * 1024;

/** Keeps bodies as block blobs of a container. Each block is sent with its MD5, which Azure checks. */
export class AzureBlobStore implements BlobStore {
  readonly #address: AzureAddress;
  readonly #timeouts: AzureTimeouts;
  readonly #container: ContainerClient;

  constructor(address: AzureAddress, timeouts: AzureTimeouts = defaultAzureTimeouts) {
    this.#address = address;
    this.#timeouts = timeouts;
    const credential = new StorageSharedKeyCredential(address.accountName, address.accountKey);
    const { answer, tries } = timeouts;
    const retryOptions = { maxTries: tries, tryTimeoutInMs: answer, retryDelayInMs: 100, maxRetryDelayInMs: 2_000 };
    this.#container = new BlobServiceClient(address.endpoint, credential, { retryOptions }).getContainerClient(
      address.container,
    );
  }

  async write(
    id: BlobId,
    body: AsyncIterable<Buffer>,
    { release }: WriteOptions = {},
  ): Promise<{ readonly size: number }> {
    const blob = this.#blob(id);
    // Blocks of another attempt to write the blob have other ids, so that no list of blocks mixes them.
    const write = randomUUID();
    const blocks: string[] = [];
    let size = 0;
    // A block is sent as a whole, so its chunks must be copied if their memory is only borrowed.
    for await (const { bytes, md5 } of inParts(release === undefined ? body : copiedBody(body, release), BLOCK_BYTES)) {
      size += bytes.length;
      if (bytes.length === 0) break;
      const block = Buffer.from(`${write}${String(blocks.length).padStart(6, '0')}`).toString('base64');
      await this.#call('write', () =>
        blob.stageBlock(block, bytes, bytes.length, { transactionalContentMD5: Buffer.from(md5, 'base64') }),
      );
      blocks.push(block);
    }
    await this.#appear(id, blob, blocks, write);
    return { size };
  }

  /** Makes the blob visible. After a lost answer it looks whether the blob is the one that was written. */
  async #appear(id: BlobId, blob: BlockBlobClient, blocks: string[], write: string): Promise<void> {
    const { accessTier } = this.#address;
    try {
      await this.#call('write', () =>
        blob.commitBlockList(blocks, {
          conditions: { ifNoneMatch: '*' },
          metadata: { write },
          blobHTTPHeaders: { blobContentType: 'application/octet-stream' },
          ...(accessTier !== '' && { tier: accessTier }),
        }),
      );
    } catch (error) {
      if (callFailure(error)?.kind !== 'condition') throw error;
      const { metadata } = await this.#call('look for what was written', () => blob.getProperties());
      if (metadata?.['write'] === write) return;
      throw new Error(`blob ${id} exists already: ids are never used twice`, { cause: error });
    }
  }

  read(id: BlobId, range: BlobRange): Chunks {
    return ownChunks(this.#chunks(id, range));
  }

  async *#chunks(id: BlobId, range: BlobRange): AsyncIterable<Buffer> {
    const blob = this.#blob(id);
    const { start, end } = range;
    if (start >= end) {
      await this.#call(`look for blob ${id}`, () => blob.getProperties()).catch((error: unknown) => {
        throw translated(error, id, 0, this.#place(id));
      });
      return;
    }
    let at = start;
    try {
      // The SDK goes on with the next byte of the same blob after a broken connection.
      const answer = await this.#call(`read blob ${id}`, () =>
        blob.download(start, end - start, { maxRetryRequests: this.#timeouts.tries }),
      );
      const stream = answer.readableStreamBody as Readable;
      try {
        checkRange(answer, id, range, this.#place(id));
      } catch (error) {
        stream.destroy();
        throw error;
      }
      for await (const chunk of arriving(stream, this.#timeouts.idle)) {
        at += chunk.length;
        bodyBytesPassed(chunk.length);
        yield chunk;
      }
    } catch (error) {
      throw translated(this.#failed(`read blob ${id}`, error), id, end, this.#place(id));
    }
    if (at !== end) throw this.#error(`read blob ${id}`, { kind: 'passing', code: 'cut' });
  }

  async remove(id: BlobId): Promise<void> {
    await this.#call(`remove blob ${id}`, () => this.#blob(id).deleteIfExists());
  }

  async *list(): AsyncIterable<ListedBlob> {
    const { prefix } = this.#address;
    for await (const { date = new Date(), segment } of this.#pages()) {
      for (const { name, properties } of segment.blobItems) {
        const id = name.slice(prefix.length + 3) as BlobId;
        if (!/^[0-9a-f]{32}$/.test(id) || name !== blobObjectKey(prefix, id)) continue;
        const age = date.getTime() - properties.lastModified.getTime();
        yield { id, size: properties.contentLength ?? 0, ageMs: Math.max(0, age) };
      }
    }
  }

  /** Lists the names of all blobs of the container below the prefix, also of those of others. */
  async *names(): AsyncIterable<string> {
    for await (const { segment } of this.#pages()) for (const { name } of segment.blobItems) yield name;
  }

  async *#pages(): AsyncGenerator<ListedPage> {
    const { prefix } = this.#address;
    const pages = this.#container.listBlobsFlat({ prefix }).byPage()[Symbol.asyncIterator]();
    for (;;) {
      const page = await this.#call('list', () => pages.next());
      if (page.done === true) return;
      yield page.value;
    }
  }

  /** Azure does not report free space. */
  space(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  #blob(id: BlobId): BlockBlobClient {
    return this.#container.getBlockBlobClient(blobObjectKey(this.#address.prefix, id));
  }

  #place(id: BlobId): string {
    const { what, container, endpoint, prefix } = this.#address;
    return `${what}, container ${container} at ${endpoint}, blob ${blobObjectKey(prefix, id)}`;
  }

  async #call<T>(doing: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw this.#failed(doing, error);
    }
  }

  #failed(doing: string, error: unknown): unknown {
    const failure = azureFailure(error, this.#timeouts.answer);
    return failure === undefined ? error : this.#error(doing, failure);
  }

  /** The error has no cause: the errors of the SDK hold the request with its headers. */
  #error(doing: string, failure: CallFailure): StoreError {
    const { what, container, endpoint } = this.#address;
    const message = `could not ${doing} in ${what} (container ${container} at ${endpoint}): ${failure.code}`;
    return new StoreError('unreachable', message, { failure });
  }
}

interface ListedPage {
  readonly date?: Date;
  readonly segment: { readonly blobItems: readonly ListedItem[] };
}

interface ListedItem {
  readonly name: string;
  readonly properties: { readonly lastModified: Date; readonly contentLength?: number };
}

/** Throws unless the response has exactly the requested bytes. */
function checkRange(
  { contentRange }: BlobDownloadResponseParsed,
  id: BlobId,
  { start, end, size }: BlobRange,
  place: string,
): void {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange ?? '');
  if (match === null)
    throw new Error(`asked for bytes ${start} to ${end} of blob ${id}, Azure gave ${contentRange ?? 'all'}`);
  const [first, last, whole] = match.slice(1).map(Number);
  if (whole !== undefined && whole < end) throw blobTruncated(id, end, place);
  if (size !== undefined && whole !== size) throw blobAltered(id, `has ${whole} bytes instead of ${size}`, place);
  if (first !== start || last !== end - 1)
    throw new Error(`asked for bytes ${start} to ${end} of blob ${id}, Azure gave ${contentRange}`);
}

function translated(error: unknown, id: BlobId, end: number, place: string): unknown {
  const kind = callFailure(error)?.kind;
  if (kind === 'absent') return blobMissing(id, place);
  return kind === 'range' ? blobTruncated(id, end, place) : error;
}
