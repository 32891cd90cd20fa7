import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { ObjectHeaders } from '../../../s3/objects.ts';
import { writeTaggingHeader } from '../../../../protocol/s3/tagging.ts';
import type { EncryptionOptions } from '../../../s3/encryption-rules.ts';
import type { ZipOptions } from '../entries/archives.ts';
import type { AgeOptions } from '../entries/times.ts';
import { endOf, parseMode, parseValidity } from '../settings/retention.ts';
import { parseTags } from '../settings/tags.ts';
import { parseChecksum, type WantedDigests } from './digests.ts';
import { parseAttributes } from './object-headers.ts';

/** The flags of every command that copies. */
export interface TransferOptions extends AgeOptions, EncryptionOptions, ZipOptions {
  readonly recursive?: boolean;
  readonly disableMultipart?: boolean;
  /** Size of a part, such as `16MiB`. */
  readonly partSize?: string;
  /** Refuses to replace an object. */
  readonly ifNotExists?: boolean;
  /** Headers and metadata: `NAME=VALUE;NAME=VALUE`. */
  readonly attr?: string;
  readonly storageClass?: string;
  /** `KEY=VALUE&KEY=VALUE`. */
  readonly tags?: string;
  /** Keeps mode and times of files, and locks of objects. */
  readonly preserve?: boolean;
  /** Keeps locks of objects. No flag: a move sets it, whose source is no longer there. */
  readonly keepLock?: boolean;
  readonly maxWorkers?: string;
  readonly retentionMode?: string;
  readonly retentionDuration?: string;
  readonly legalHold?: string;
  readonly md5?: boolean;
  readonly checksum?: string;
  /** Prints what would be copied. */
  readonly dryRun?: boolean;
}

/** The headers that the flags give to each copy. */
export interface GivenHeaders {
  /** They replace those of the source. */
  readonly attributes: ObjectHeaders;
  /** They come in addition: storage class and lock. */
  readonly more: ObjectHeaders;
  /** The value of `x-amz-tagging`; undefined keeps the tags of the source. */
  readonly tagging: string | undefined;
}

/** @throws ProgramError BadArgument */
export function givenHeaders(options: TransferOptions, now: Date): GivenHeaders {
  const { attr = '', storageClass, tags } = options;
  const tagging = tags === undefined ? undefined : writeTaggingHeader(parseTags(tags));
  const more = {
    ...(storageClass !== undefined && { 'x-amz-storage-class': storageClass }),
    ...(options.ifNotExists === true && { 'if-none-match': '*' }),
    ...lockHeaders(options, now),
  };
  return { attributes: parseAttributes(attr), more, tagging };
}

function lockHeaders(options: TransferOptions, now: Date): ObjectHeaders {
  const { retentionMode, retentionDuration, legalHold } = options;
  if ((retentionMode === undefined) !== (retentionDuration === undefined)) {
    throw new ProgramError('BadArgument', '--retention-mode and --retention-duration need each other');
  }
  const hold = legalHold?.toUpperCase();
  if (hold !== undefined && hold !== 'ON' && hold !== 'OFF') {
    throw new ProgramError('BadArgument', `Invalid --legal-hold \`${legalHold}\`: it is on or off`);
  }
  return {
    ...(retentionMode !== undefined && { 'x-amz-object-lock-mode': parseMode(retentionMode) }),
    ...(retentionDuration !== undefined && {
      'x-amz-object-lock-retain-until-date': endOf(parseValidity(retentionDuration), now).toISOString(),
    }),
    ...(hold !== undefined && { 'x-amz-object-lock-legal-hold': hold }),
  };
}

/** A server demands digests of what it locks. */
export function wantedDigests({ md5, checksum, retentionMode, legalHold }: TransferOptions): WantedDigests {
  const wanted = parseChecksum(checksum);
  const isLocked = wanted.checksum === undefined && (retentionMode !== undefined || legalHold !== undefined);
  return { ...wanted, md5: wanted.md5 || md5 === true || isLocked };
}

/** The copies that run at the same time. */
interface Workers {
  /** Most of the time of a small copy is the wait for the server or the disk. */
  readonly copies: number;
  /** Requests with a large body. Four streams fill a network and need a few MiB of memory. */
  readonly large: number;
}

/** @throws ProgramError BadArgument */
export function workersOf({ maxWorkers }: TransferOptions, env: NodeJS.ProcessEnv = {}): Workers {
  const threads = env['MC_UPLOAD_MULTIPART_THREADS'] ?? '';
  if (maxWorkers === undefined)
    return { copies: 32, large: threads === '' ? 4 : numberOf('MC_UPLOAD_MULTIPART_THREADS', threads) };
  const workers = numberOf('--max-workers', maxWorkers);
  return { copies: workers, large: workers };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 256) return number;
  throw new ProgramError('BadArgument', `Invalid ${name} \`${text}\`: it is a number from 1 to 256`);
}
