/** The server's folder, locked by this process until `close` or its death. */
export interface DataFolder {
  readonly recordsFolder: string;
  readonly blobsFolder: string;
  /** A UUID made once for this folder. */
  readonly deploymentId: string;
  close(): Promise<void>;
}

export function openDataFolder(_path: string): Promise<DataFolder> {
  return Promise.reject(new Error('not yet'));
}
