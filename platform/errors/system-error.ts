import { constants } from 'node:os';

const namesByNumber: ReadonlyMap<number, string> = new Map(
  // Two names may have one number. The first one is the name that Node uses: EAGAIN, not EWOULDBLOCK.
  Object.entries(constants.errno)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/**
 * Returns the name of a failed system call's error ("ENOSPC"), or undefined. libuv has no name for some errors, among them those of quotas and
 * of NFS: Node reports EDQUOT as `code: 'Unknown system error -122', errno: -122`, and `writeSync` of Node 26 as `code: 'UNKNOWN', errno: -122`.
 * LMDB has the number as `code`.
 */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown };
  if (typeof code === 'string' && code !== 'UNKNOWN' && !code.startsWith('Unknown system error')) return code;
  const number = typeof errno === 'number' ? errno : code;
  return typeof number === 'number' ? namesByNumber.get(Math.abs(number)) : undefined;
}

/** Messages of the system about a file, by code. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'the system or another program uses it',
  EDQUOT: 'the quota of the user is used up',
  EEXIST: 'it exists already',
  EFBIG: 'the file is larger than this process or the file system allows',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many files are open on this machine',
  ENOENT: 'no such file or folder',
  ENOLCK: 'the file system has no locks: its lock service does not answer',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of the path is no folder',
  ENOTEMPTY: 'the folder is not empty',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ESTALE: 'the file server no longer knows the file or folder',
};

const exhausted: ReadonlySet<string | undefined> = new Set([
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'ENOMEM',
  'ERR_WORKER_INIT_FAILED',
]);

/** Reports whether the process or the machine has used up its descriptors, processes, threads or memory, which passes. */
export function isExhausted(error: unknown): boolean {
  return exhausted.has(systemErrorCode(error));
}

/** Network errors have an address and no path. */
export function isOfFile(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  if (!(error instanceof Error) || !('syscall' in error) || 'address' in error || 'hostname' in error) return false;
  return Object.hasOwn(reasons, systemErrorCode(error) ?? '');
}

/**
 * Returns why a file could not be used, in words, for a message that names the file. Other errors keep their message.
 *
 * @example
 * throw new ProgramError('usage', `cannot read ${path}: ${fileErrorReason(error)}`, { cause: error });
 */
export function fileErrorReason(error: unknown): string {
  if (isOfFile(error)) return reasons[systemErrorCode(error) ?? ''] ?? error.message;
  return error instanceof Error ? messageOf(error) : String(error);
}

/** The text of OpenSSL: `C0F6:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/x.c:78:`. */
const openSsl = /\b[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):[^:\s]*:\d+:\s*/;

/**
 * Returns the message of an error of a connection. Node reports a host whose addresses all fail by an error with one error for each and without
 * a message, and passes the text of OpenSSL on with its source line.
 */
export function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message.replace(openSsl, '$1').trimEnd();
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
}

/** Errors of the file that is written, and not of the one that is read. */
const ofTarget: ReadonlySet<string | undefined> = new Set(['EDQUOT', 'EEXIST', 'EFBIG', 'ENOSPC', 'EROFS']);

/** Returns the path that an error is about. That of a call with two paths may be about the second. */
function pathOf(error: NodeJS.ErrnoException & { readonly dest?: unknown }): string | undefined {
  return typeof error.dest === 'string' && ofTarget.has(systemErrorCode(error)) ? error.dest : error.path;
}

/** Returns the message of any error for the user of a program: that of a file with its path, and without the code of the system. */
export function errorText(error: unknown): string {
  const path = isOfFile(error) ? pathOf(error) : undefined;
  return path === undefined ? fileErrorReason(error) : `${path}: ${fileErrorReason(error)}`;
}
