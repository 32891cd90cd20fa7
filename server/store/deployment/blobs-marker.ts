/** What says, beside the blobs, which deployment they belong to. */
export interface BlobsMarker {
  /** Undefined where there is none. Throws `StoreUnavailable` where that cannot be told. */
  read(): Promise<string | undefined>;
  /** Durable when it resolves. One that is there already is left alone: read again. */
  write(deploymentId: string): Promise<void>;
}

/** The name of a marker: a file in the folder, an object below the prefix. */
export const markerName = 'coffer-deployment.json';
