import { open } from 'node:fs/promises';
import type { AuditEntry } from './audit-entry.ts';

/** The conditions of a search. Texts are compared without case. */
export interface AuditSearch {
  /** Part of the name, the access key or the address of the caller. */
  readonly who?: string;
  readonly bucket?: string;
  /** Part of the operation or of an action. */
  readonly operation?: string;
  readonly decision?: 'allow' | 'deny';
  /** `failed`: a status of 400 or more. */
  readonly outcome?: 'failed' | 'succeeded';
  /** `left-out`: without the reads that open pages of the console repeat by themselves. Those that failed or were denied are found. */
  readonly refreshes?: 'left-out';
  /** The search begins before this byte of the file; absent: at its end. */
  readonly before?: number | undefined;
}

/** Entries in the form of MinIO's audit log, the newest first. */
interface AuditMatches {
  readonly entries: readonly AuditEntry[];
  /** The refreshes that match otherwise, and were left out. */
  readonly leftOut: number;
  /** The `before` of the next search; absent at the beginning of the file. */
  readonly next?: number;
  /** The time of the oldest entry that was read. */
  readonly since?: string;
}

/** The bytes that a search reads, and those of one read. A search of a rare entry in a large file takes several calls. */
const maxBytes = 32 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** Lines that are longer than this are not searched; entries are shorter. */
const maxLineBytes = 1024 * 1024;
const maxEntries = 100;

/** Searches the file of the audit log from its end. It reads a bounded number of bytes and needs no index. */
export async function searchAuditFile(
  path: string,
  search: AuditSearch,
  limits: { readonly bytes?: number; readonly chunk?: number } = {},
): Promise<AuditMatches> {
  const { bytes = maxBytes, chunk = chunkBytes } = limits;
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.min(search.before ?? size, size);
    const entries: AuditEntry[] = [];
    let since: string | undefined;
    let leftOut = 0;
    let end = from;
    // The end of a line that begins in the chunk before.
    let tail: Buffer = Buffer.alloc(0);
    while (end > 0 && from - end < bytes) {
      const start = Math.max(0, end - chunk);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
      const text = Buffer.concat([buffer.subarray(0, bytesRead), tail]);
      const whole = start === 0 ? 0 : text.indexOf(newline) + 1 || text.length;
      for (const [offset, line] of linesBackwards(text.subarray(whole))) {
        const entry = entryOf(line);
        since = entry?.time ?? since;
        const { found, quiet } = matchOf(entry, search);
        leftOut += quiet;
        if (found === undefined) continue;
        const next = start + whole + offset;
        if (entries.push(found) === maxEntries && next > 0) return { entries, leftOut, next, ...(since && { since }) };
      }
      tail = whole > maxLineBytes ? Buffer.alloc(0) : Buffer.from(text.subarray(0, whole));
      end = start;
    }
    const next = end + tail.length;
    return { entries, leftOut, ...(end > 0 && { next }), ...(since && { since }) };
  } finally {
    await file.close();
  }
}

const newline = 10;

/** Yields the lines and their offsets, the last one first. */
function* linesBackwards(text: Buffer): Generator<readonly [offset: number, line: Buffer]> {
  let end = text.length;
  while (end > 0) {
    const offset = end < 2 ? 0 : text.lastIndexOf(newline, end - 2) + 1;
    yield [offset, text.subarray(offset, end)];
    end = offset;
  }
}

/** Undefined for a line that is not an entry, such as one that a crash has cut. */
function entryOf(line: Buffer): AuditEntry | undefined {
  if (line.length < 2 || line.length > maxLineBytes) return undefined;
  try {
    const entry = JSON.parse(line.toString()) as AuditEntry;
    return typeof entry === 'object' && entry !== null && typeof entry.api === 'object' ? entry : undefined;
  } catch {
    return undefined;
  }
}

interface Match {
  readonly found?: AuditEntry;
  /** 1 for a refresh that the search leaves out. */
  readonly quiet: 0 | 1;
}

function matchOf(entry: AuditEntry | undefined, search: AuditSearch): Match {
  if (entry === undefined || !fits(entry, search)) return { quiet: 0 };
  return search.refreshes === 'left-out' && isQuietRefresh(entry) ? { quiet: 1 } : { found: entry, quiet: 0 };
}

/** Reports if an open page repeated a read by itself, and was answered. */
function isQuietRefresh({ tags, api, decisions = [] }: AuditEntry): boolean {
  return tags?.['refresh'] === true && api.statusCode < 400 && !decisions.some(({ effect }) => effect === 'deny');
}

/** Reports whether an entry is one that is searched. */
export function fits(entry: AuditEntry, { who, bucket, operation, decision, outcome }: AuditSearch): boolean {
  if (bucket !== undefined && entry.api.bucket !== bucket) return false;
  if (outcome !== undefined && entry.api.statusCode >= 400 !== (outcome === 'failed')) return false;
  if (decision !== undefined && !(entry.decisions ?? []).some(({ effect }) => effect === decision)) return false;
  const { identity, accessKey, parentUser, remotehost } = entry;
  if (who !== undefined && !hasPart([identity?.name, accessKey, parentUser, remotehost], who)) return false;
  const actions = (entry.decisions ?? []).map(({ action }) => action);
  return operation === undefined || hasPart([entry.api.name, ...actions], operation);
}

function hasPart(texts: readonly (string | undefined)[], part: string): boolean {
  const wanted = part.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wanted) === true);
}
