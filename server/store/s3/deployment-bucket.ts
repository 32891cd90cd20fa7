import { GetObjectCommand } from '@aws-sdk/client-s3';
import { blobsUnavailable } from '../blob-store.ts';
import { markerName, readMarkerText } from '../blobs-marker.ts';
import { isStoreUnavailable } from '../store-error.ts';
import { placeName, type S3Connection } from './connection.ts';
import { ofObject } from './errors.ts';

/** Milliseconds for the attempts of a look: readiness shares it, and needs its result before the watch of the stores gives up. */
const lookTimeoutMs = 8_000;

/**
 * The place of the blobs in another S3. Its name or address may lead to another bucket later, whose answers are those of an S3, too: it has no blob
 * of this deployment, and takes what is lost when the right one is back. So the marker is read again and again.
 */
export class DeploymentBucket {
  readonly #connection: S3Connection;
  readonly #deployment: () => string | undefined;
  /** The last look, which may be under way. It counts from before its request: an answer that took long may say what was true then. */
  #last: { readonly began: number; readonly done: Promise<void> } | undefined;

  /** @param deployment returns the ID of the deployment; undefined before the server has joined it, and in tools, which then check nothing */
  constructor(connection: S3Connection, deployment: () => string | undefined) {
    this.#connection = connection;
    this.#deployment = deployment;
  }

  /**
   * Reads the marker, unless a look at it began within the last `maxAgeMs` milliseconds and has not failed. Callers share that look.
   *
   * @throws StoreError of the blobs if it is not that of the deployment
   */
  async check(maxAgeMs = 0): Promise<void> {
    const deployment = this.#deployment();
    if (deployment === undefined) return;
    const now = performance.now();
    let look = this.#last;
    if (look === undefined || now - look.began >= maxAgeMs) {
      look = { began: now, done: this.#look(deployment) };
      this.#last = look;
    }
    try {
      await look.done;
    } catch (error) {
      if (this.#last === look) this.#last = undefined;
      throw error;
    }
  }

  async #look(deployment: string): Promise<void> {
    let found = await this.#read().catch(wrong);
    if (found !== deployment) {
      // One wrong answer is more often a fault of the way to that S3.
      this.#connection.renew();
      found = await this.#read();
    }
    if (found !== deployment) {
      const { bucket, prefix } = this.#connection.address;
      const what = `s3://${bucket}/${prefix} in ${placeName(this.#connection.address)}`;
      throw blobsUnavailable(
        'unreachable',
        `${what} belongs to the deployment ${found}, and this server serves ${deployment}`,
      );
    }
  }

  #read(): Promise<string> {
    const { bucket, prefix } = this.#connection.address;
    const request = { Bucket: bucket, Key: prefix + markerName };
    return this.#connection.call(
      `find ${markerName}`,
      async (client, options) => {
        const { Body } = ofObject(await client.send(new GetObjectCommand(request), options));
        return readMarkerText((await Body?.transformToString()) ?? '', `s3://${bucket}/${request.Key}`);
      },
      { timeout: lookTimeoutMs, total: lookTimeoutMs },
    );
  }
}

function wrong(error: unknown): undefined {
  if (!isStoreUnavailable(error)) throw error;
}
