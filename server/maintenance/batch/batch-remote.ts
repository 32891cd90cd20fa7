import type { ListedVersion, VersionListing } from '../../objects/contract/object-layer.ts';
import type { BatchSecrets, ReplicateDefinition } from './replicate-definition.ts';

/** A version on either side. */
export type BatchVersion = Pick<
  ListedVersion,
  'key' | 'versionId' | 'isLatest' | 'deleteMarker' | 'size' | 'modified' | 'etag'
>;

/** The result for a version. `same`: the other side has it already. */
export type Transfer = 'changed' | 'same';

/** The other server of a job. `server/replication` implements it. Errors with `code` `unavailable` are of the whole server. */
export interface BatchRemote {
  /** Rejects where the bucket cannot be used, or keeps no versions while the source does. */
  check(): Promise<void>;
  /** Lists versions of the other server as `listObjectVersions` does. */
  list(request: {
    readonly prefix: string;
    readonly keyMarker: string;
    readonly versionIdMarker: string | undefined;
  }): Promise<Pick<VersionListing, 'next'> & { readonly versions: readonly BatchVersion[] }>;
  /** Reads tags and headers of a version of the other server. Undefined where it is gone. */
  describe(
    version: BatchVersion,
    needsTags: boolean,
  ): Promise<
    { readonly tags: Readonly<Record<string, string>>; readonly headers: Readonly<Record<string, string>> } | undefined
  >;
  /** `onlyId`: the object for which the rights were decided. Another one of that name is not sent. */
  send(version: BatchVersion, targetKey: string, onlyId: string | undefined): Promise<Transfer>;
  fetch(version: BatchVersion, targetKey: string): Promise<Transfer>;
  /** Sends the report of the job to the address of its definition. */
  notify(report: object): Promise<void>;
  close(): void;
}

export type OpenBatchRemote = (
  definition: ReplicateDefinition,
  secrets: BatchSecrets,
  signal: AbortSignal,
) => BatchRemote;
