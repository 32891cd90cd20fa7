import type { Semaphore } from '../../../../platform/async/concurrency.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import type { UploadSessions } from '../../../s3/upload-sessions.ts';
import type { WantedDigests } from './digests.ts';
import type { Downloads } from './download.ts';
import type { GivenHeaders } from './transfer-options.ts';
import type { Multipart } from './upload.ts';

export interface CopyOptions {
  readonly multipart: Multipart;
  /** The headers of the flags. */
  readonly given: GivenHeaders;
  /** Keeps mode and times of files. */
  readonly preserve: boolean;
  /** Keeps locks of objects. A copy that cannot be removed for years must be asked for. */
  readonly keepsLock: boolean;
  readonly digests: WantedDigests;
  /** The server cannot copy out of an archive itself. */
  readonly zip?: boolean;
  /** An object that is its own target is stored anew. Otherwise the server refuses such a copy. */
  readonly inPlace: boolean;
  readonly encryption: EncryptionRules;
  /** Limits the concurrent requests with a large body. */
  readonly semaphore: Semaphore;
  /** Limits the concurrent large copies, so that the first of them arrive first. */
  readonly large: Semaphore;
  /** Concurrent parts of one upload. */
  readonly parallel: number;
  readonly downloads: Downloads;
  readonly sessions: UploadSessions;
  readonly count: (bytes: number) => void;
  /** Called for an object whose copy does not get its lock, or which goes to a file, that has no tags. */
  readonly onLeft: (what: 'tags' | 'lock') => void;
}
