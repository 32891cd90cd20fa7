import { fileErrorReason, isExhausted, systemErrorCode } from '../../../platform/errors/system-error.ts';
import { type BlobsMarker, folderMarker } from '../blobs-marker.ts';
import { blobsUnavailable } from '../blob-store.ts';
import { isStoreUnavailable, type StoreError } from '../store-error.ts';
import type { BlobFileSystem } from './file-system.ts';

interface DeploymentFolderOptions {
  readonly path: string;
  readonly fs: Pick<BlobFileSystem, 'identity'>;
  /** Returns the ID of the deployment; undefined before the server has joined it, and in tools, which then check nothing. */
  readonly deployment?: (() => string | undefined) | undefined;
  readonly marker?: BlobsMarker;
}

/**
 * The folder of the blobs, which may be a mount point. When its volume goes, the path leads to the empty folder beneath, where a file would be
 * lost. So the engine compares device and inode before it makes a file, and again before it says that a body is stored. Another device or
 * inode counts as the same folder if the marker in it names the deployment: the volume came back.
 */
export class DeploymentFolder {
  readonly #options: DeploymentFolderOptions;
  readonly #marker: BlobsMarker;
  readonly #onChange = new Set<() => void>();
  /** Device and inode of the folder that had the marker. */
  #identity: string | undefined;

  constructor(options: DeploymentFolderOptions) {
    this.#options = options;
    this.#marker = options.marker ?? folderMarker(options.path);
  }

  /** Calls back when the path no longer leads to the folder that was known: open files and known folders are of the old one. */
  onChange(listener: () => void): void {
    this.#onChange.add(listener);
  }

  /**
   * Returns the volume to which the path leads.
   *
   * @param expected the volume on which the caller has made a file
   * @throws StoreError of the blobs if the path does not lead to the folder of this deployment, or to another volume than the expected one
   */
  async check(expected?: string): Promise<string> {
    const volume = await this.#volume();
    if (expected !== undefined && volume !== expected) throw this.#away('another volume was mounted meanwhile');
    return volume;
  }

  async #volume(): Promise<string> {
    const deployment = this.#options.deployment?.();
    if (deployment === undefined) return '';
    for (;;) {
      const identity = await this.#look();
      if (identity === this.#identity) return identity;
      this.#forget();
      const found = await this.#marker.read().catch((error: unknown) => {
        throw this.#failure(error);
      });
      if (found !== deployment) {
        throw this.#away(
          found === undefined
            ? 'it does not have the marker of its deployment'
            : `it belongs to the deployment ${found}`,
        );
      }
      // The marker may be that of a volume that was mounted or went meanwhile.
      if (identity === (await this.#look())) this.#identity = identity;
    }
  }

  /** Returns the error to report for a failed call: where the folder is away, that is the reason. */
  async explain(error: unknown): Promise<unknown> {
    if (systemErrorCode(error) === undefined) return error;
    try {
      await this.check();
      return error;
    } catch (away) {
      return away;
    }
  }

  async #look(): Promise<string> {
    try {
      return await this.#options.fs.identity(this.#options.path);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') this.#forget();
      throw this.#failure(error);
    }
  }

  #forget(): void {
    if (this.#identity === undefined) return;
    this.#identity = undefined;
    for (const listener of this.#onChange) listener();
  }

  /** Returns the error to report for a look at the folder that failed. A process without descriptors knows nothing about the folder. */
  #failure(error: unknown): Error {
    const cause = isStoreUnavailable(error) ? error.cause : error;
    return isExhausted(cause) ? (cause as Error) : this.#away(fileErrorReason(error), error);
  }

  #away(reason: string, cause?: unknown): StoreError {
    return blobsUnavailable(
      'unreachable',
      `the folder for blobs ${this.#options.path} is not available: ${reason}. Is its volume mounted? The server goes on when it is`,
      { cause },
    );
  }
}
