import type { Chunks } from '../../streams/chunks.ts';
import type { Tags } from '../../../protocol/s3/tagging.ts';

/** A read of an object or a version that is not here, which a remote target may answer. */
export interface ProxiedRead {
  readonly method: 'GET' | 'HEAD';
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
  readonly partNumber: string | undefined;
  /** The range, the conditions, and the wish for the tags, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A read of the tags of an object or a version that is not here. */
export type ProxiedTagsRead = Pick<ProxiedRead, 'bucket' | 'key' | 'versionId'>;

/** The tags that a remote target has. */
export interface ProxiedTags {
  readonly tags: Tags;
  /** Undefined where the target names none. */
  readonly versionId: string | undefined;
}

/** The answer of a remote target that has the object: 200 or 206, or that of a condition or range that does not hold. */
export interface ProxiedAnswer {
  readonly status: 200 | 206 | 304 | 412 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** The code of an error of S3; undefined for the answer to a HEAD. */
  readonly code: string | undefined;
  readonly size: number;
  /** Undefined for an answer without a body. It must be closed. */
  readonly body: Chunks | undefined;
}
