import type { ByCaller } from './event-caller.ts';
import type {
  Checksum,
  ExpectedDigests,
  GivenChecksum,
  NewAcl,
  ObjectHeaders,
  ObjectLock,
  ObjectTags,
  Replica,
  RequestedEncryption,
  WriteConditions,
} from './objects.ts';
import type { BodySource } from './body-source.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';

export interface CreateMultipartUpload extends NewAcl {
  readonly bucket: string;
  readonly key: string;
  readonly headers: ObjectHeaders;
  readonly tags?: ObjectTags | undefined;
  readonly lock?: ObjectLock | undefined;
  readonly encryption?: RequestedEncryption | undefined;
  readonly checksum?: { readonly algorithm: Checksum['algorithm']; readonly type: Checksum['type'] } | undefined;
  /** As in `PutObject`. */
  readonly replica?: Replica | undefined;
}

export interface PutPart {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** 1 to 10,000. */
  readonly partNumber: number;
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** The client's key of an upload that was created with one. */
  readonly customerKey?: CustomerKey | undefined;
}

export interface PartInfo {
  readonly partNumber: number;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly checksum?: Checksum;
}

export interface CompleteMultipartUpload extends ByCaller {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly parts: readonly {
    readonly partNumber: number;
    readonly etag: string;
    readonly checksum?: GivenChecksum;
  }[];
  /** The checksum of the whole object, where the client sends one. A composite checksum may end with a dash and the count of parts. */
  readonly checksum?: GivenChecksum | undefined;
  /** The checksum type that the client expects of the upload. */
  readonly checksumType?: Checksum['type'] | undefined;
  /** The size of the whole object, where the client sends it. */
  readonly size?: number | undefined;
  readonly conditions?: WriteConditions | undefined;
  /** The client's key of an upload that was created with one: needed where the parts have checksums. */
  readonly customerKey?: CustomerKey | undefined;
  /** As in `PutObject`. */
  readonly onlyId?: string | undefined;
}

export interface ListParts {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** The client's key of the upload: without it, the checksums of parts are left out. */
  readonly customerKey?: CustomerKey;
  readonly after: number;
  readonly limit: number;
}

/** The time when a lifecycle rule aborts an unfinished upload. */
export interface Abortion {
  readonly date: Date;
  readonly ruleId: string;
}

export interface PartListing {
  readonly abortion?: Abortion;
  readonly parts: readonly PartInfo[];
  readonly next?: number;
  readonly initiated: Date;
  /** The canonical ID of the owner of the object, where ACLs count; absent where that is the owner of the bucket. */
  readonly owner?: string;
  readonly storageClass?: string;
  readonly checksum?: CreateMultipartUpload['checksum'];
}

export interface ListMultipartUploads {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  readonly afterKey: string;
  readonly afterUploadId: string;
  readonly limit: number;
}

export interface UploadListing {
  readonly uploads: readonly (Pick<PartListing, 'initiated' | 'storageClass' | 'checksum' | 'owner'> & {
    readonly key: string;
    readonly uploadId: string;
  })[];
  readonly commonPrefixes: readonly string[];
  readonly next?: { readonly key: string; readonly uploadId: string };
}
