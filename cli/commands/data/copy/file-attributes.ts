import type { Stats } from 'node:fs';
import { chmod, stat, utimes } from 'node:fs/promises';

/** The metadata in which clients keep the attributes of a file. */
export const attributesHeader = 'x-amz-meta-mc-attrs';

/** Writes the attributes of a file: `atime:SECONDS#NANOSECONDS/gid:N/mode:N/mtime:SECONDS#NANOSECONDS/uid:N`. */
export function formatAttributes(found: Pick<Stats, 'atimeMs' | 'mtimeMs' | 'gid' | 'uid' | 'mode'>): string {
  const { atimeMs, mtimeMs, gid, uid, mode } = found;
  return `atime:${timeOf(atimeMs)}/gid:${gid}/mode:${mode}/mtime:${timeOf(mtimeMs)}/uid:${uid}`;
}

function timeOf(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  return `${seconds}#${Math.round((milliseconds - seconds * 1_000) * 1e6)}`;
}

export interface FileAttributes {
  /** Permission bits. */
  readonly mode?: number;
  /** Seconds since 1970. */
  readonly atime?: number;
  readonly mtime?: number;
}

/** Reads attributes that any client wrote. Those that are missing or malformed are left out. */
export function parseAttributesHeader(text: string): FileAttributes {
  const fields = new Map(
    text.split('/').map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1)];
    }),
  );
  const mode = numberOf(fields.get('mode'));
  const [atime, mtime] = [seconds(fields.get('atime')), seconds(fields.get('mtime'))];
  return {
    // A set-user-ID bit from a stranger's object would be a way to other rights.
    ...(mode !== undefined && { mode: mode & 0o777 }),
    ...(atime !== undefined && { atime }),
    ...(mtime !== undefined && { mtime }),
  };
}

function seconds(text: string | undefined): number | undefined {
  const [whole, nanoseconds = '0'] = text?.split('#') ?? [];
  // Seconds before 1970 are negative, and their nanoseconds are added.
  const isBefore = whole?.startsWith('-') === true;
  const absolute = numberOf(isBefore ? whole.slice(1) : whole);
  const [one, other] = [isBefore && absolute !== undefined ? -absolute : absolute, numberOf(nanoseconds)];
  return one === undefined || other === undefined ? undefined : one + other / 1e9;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/** Returns the header that keeps the attributes of a file. */
export async function attributesOf(path: string): Promise<Record<string, string>> {
  return { [attributesHeader]: formatAttributes(await stat(path)) };
}

/** Gives a file the mode and times of its source. The owner stays the caller. */
export async function applyAttributes(path: string, { mode, atime, mtime }: FileAttributes): Promise<void> {
  if (mode !== undefined) await chmod(path, mode);
  // Node takes a negative number for the present time, and a negative Date as it is.
  if (mtime !== undefined) await utimes(path, new Date((atime ?? mtime) * 1_000), new Date(mtime * 1_000));
}
