/** Copies and moves of objects and folders, which the server does in the background, in the console's HTTP API. */

export interface TransferForm {
  readonly kind: 'rename' | 'move' | 'copy';
  readonly bucket: string;
  readonly objects: readonly string[];
  /** Prefixes, which end in `/`, with everything below them. */
  readonly folders: readonly string[];
  readonly target: { readonly bucket: string; readonly prefix: string };
  /** The new name of the one entry, without `/`; absent keeps the names. */
  readonly rename?: string;
  /** Replaces objects that are at the target already. */
  readonly replace: boolean;
}

export interface TransferRow extends Pick<TransferForm, 'kind' | 'bucket' | 'target'> {
  readonly id: string;
  /** For example `Move photos`. */
  readonly title: string;
  readonly state: 'running' | 'done' | 'stopped';
  /** Why it stopped by itself, for example because the session ended. */
  readonly reason?: string;
  readonly done: number;
  /** Absent while the objects are counted, and for more of them than are counted. */
  readonly total?: number;
  readonly failures: number;
  /** The first failures. */
  readonly failed: readonly { readonly key: string; readonly message: string }[];
}

export interface TransferList {
  readonly transfers: readonly TransferRow[];
}
