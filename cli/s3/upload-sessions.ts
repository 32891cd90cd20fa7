import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { S3Client } from './client.ts';
import { listUploads } from './list-objects.ts';
import { abortUpload, listParts, type StoredPart, type Upload } from './multipart-upload.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { withFileLock } from '../config/file-lock.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** An upload in parts, with the parts of it that an interrupted command sent. */
export interface UploadSession {
  readonly upload: Upload;
  readonly stored: ReadonlyMap<number, StoredPart>;
  /** Forgets the upload, which was completed or aborted. */
  readonly forget: () => Promise<void>;
  /** Keeps the upload for the next command. */
  readonly leave: () => void;
}

type LeftUpload = Pick<UploadSession, 'upload' | 'stored'>;

interface Place {
  readonly bucket: string;
  readonly key: string;
}

/** A file of `session/`. */
interface Note {
  /** Digest of everything that the object is made of. Another plan makes another object. */
  readonly plan: string;
  /** Undefined while the answer of the server is missing. */
  readonly uploadId?: string;
  /** The uploads of the key that existed before. Undefined if the caller may not list them. */
  readonly others?: readonly string[];
  readonly pid: number;
  readonly host: string;
}

/**
 * Remembers the uploads in parts that are in progress, one file for each in the folder `session/` of the configuration. A command that was
 * killed left such a file behind: the same command continues its upload, and another one for the same key aborts it. Without a folder that
 * can be written an upload is not remembered.
 */
export class UploadSessions {
  readonly #folder: string;
  readonly #inProgress = new Set<string>();
  /** The names of the files that earlier commands left, without the PID of an unfinished one; read when first needed. */
  #left: Promise<ReadonlySet<string>> | undefined;

  constructor(configFolder: string) {
    this.#folder = join(configFolder, 'session');
  }

  /**
   * Continues the upload of a killed command with the same plan, or else creates one. `plan` describes the headers, the source and the size
   * of the parts.
   */
  async begin(client: S3Client, place: Place, plan: string, create: () => Promise<Upload>): Promise<UploadSession> {
    const path = join(this.#folder, fileOf(client, place));
    const own = { plan: hashOf(plan), pid: process.pid, host: hostname() };
    const claim = this.#inProgress.has(path) ? 'taken' : await claimNote(path, own, client.signal);
    // Another command uploads to the same key now. The two are independent.
    if (claim === 'taken')
      return { upload: await create(), stored: new Map(), forget: async () => undefined, leave: () => undefined };
    this.#inProgress.add(path);
    const forget = async (): Promise<void> => {
      await rm(path, { force: true }).catch(() => undefined);
      this.#inProgress.delete(path);
    };
    const leave = (): void => void this.#inProgress.delete(path);
    try {
      await removeUnfinishedNotes(path);
      const { note } = claim;
      const left = note === undefined ? undefined : await leftUpload(client, place, note, own.plan);
      if (left !== undefined) {
        await writeNote(path, { ...own, uploadId: left.upload.uploadId });
        return { ...left, forget, leave };
      }
      const others = await uploadIds(client, place);
      await writeNote(path, { ...own, ...(others && { others }) });
      const upload = await create();
      await writeNote(path, { ...own, uploadId: upload.uploadId });
      return { upload, stored: new Map(), forget, leave };
    } catch (error) {
      // An interrupted request may still create an upload, which the next command finds by the file.
      leave();
      throw error;
    }
  }

  /**
   * Ends the upload that a killed command left of an object which is there, so that no command sends it again. It was completed, or another
   * command, or this one in one request, sent the object.
   */
  async end(client: S3Client, place: Place): Promise<void> {
    this.#left ??= readdir(this.#folder).then(
      // The temporary file or the lock that a killed command left counts as its file.
      (names) => new Set(names.map((name) => name.replace(/\.json\..*$/, '.json'))),
      () => new Set(),
    );
    const left = await this.#left;
    if (left.size === 0 || !left.has(fileOf(client, place))) return;
    const path = join(this.#folder, fileOf(client, place));
    if (this.#inProgress.has(path)) return;
    const own = { plan: '', pid: process.pid, host: hostname() };
    const claim = await claimNote(path, own, client.signal);
    if (claim === 'taken') return;
    const { note } = claim;
    await removeUnfinishedNotes(path);
    for (const uploadId of note === undefined ? [] : await idsOf(client, place, note)) {
      await abortUpload(client, { ...place, uploadId }).catch(ignoreRefusal);
    }
    await rm(path, { force: true }).catch(() => undefined);
  }
}

function fileOf(client: S3Client, { bucket, key }: Place): string {
  return `${hashOf(client.alias.url, bucket, key).slice(0, 32)}.json`;
}

/** Finds the upload of a killed command. It aborts those that are of no use. */
async function leftUpload(client: S3Client, place: Place, note: Note, plan: string): Promise<LeftUpload | undefined> {
  let found: LeftUpload | undefined;
  for (const uploadId of await idsOf(client, place, note)) {
    const upload = { ...place, uploadId };
    const parts = found === undefined && note.plan === plan ? await partsOf(client, upload) : undefined;
    if (parts === undefined) await abortUpload(client, upload).catch(ignoreRefusal);
    else found = { upload, stored: new Map(parts.map((part) => [part.partNumber, part])) };
  }
  return found;
}

/** If the answer to the creation is missing, the upload is one that did not exist before. It has no parts. */
async function idsOf(client: S3Client, place: Place, { uploadId, others }: Note): Promise<readonly string[]> {
  if (uploadId !== undefined) return [uploadId];
  if (others === undefined) return [];
  return ((await uploadIds(client, place)) ?? []).filter((id) => !others.includes(id));
}

/** Undefined if the upload does not exist any more, or the caller may not list its parts. */
async function partsOf(client: S3Client, upload: Upload): Promise<readonly StoredPart[] | undefined> {
  return Array.fromAsync(listParts(client, upload)).catch(ignoreRefusal);
}

/** Undefined if the caller may not list uploads. */
async function uploadIds(client: S3Client, { bucket, key }: Place): Promise<readonly string[] | undefined> {
  const ids: string[] = [];
  try {
    for await (const upload of listUploads(client, { bucket, prefix: key, recursive: true })) {
      if (upload.key === key) ids.push(upload.uploadId);
    }
    return ids;
  } catch (error) {
    return ignoreRefusal(error);
  }
}

/** Without the session the copy is still right, so a refusal only means that the upload begins anew. */
function ignoreRefusal(error: unknown): undefined {
  if (error instanceof ResponseError && error.status < 500) return undefined;
  throw error;
}

/** A process of another host cannot be asked. A container that was killed has the same number again. */
function isRunning({ pid, host }: Pick<Note, 'pid' | 'host'>): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function readNote(path: string): Promise<Note | undefined> {
  try {
    const note = JSON.parse(await readFile(path, 'utf8')) as Partial<Note> | null;
    if (typeof note?.plan !== 'string' || typeof note.pid !== 'number' || typeof note.host !== 'string')
      return undefined;
    const { plan, pid, host, uploadId, others } = note;
    return {
      plan,
      pid,
      host,
      ...(typeof uploadId === 'string' && { uploadId }),
      ...(Array.isArray(others) && { others: others.map(String) }),
    };
  } catch {
    return undefined;
  }
}

/**
 * Makes the file of an upload that of this process, and returns what a killed command left in it. Of two commands for one key that begin at once
 * one gets it.
 */
async function claimNote(
  path: string,
  own: Note,
  signal: AbortSignal,
): Promise<{ readonly note: Note | undefined } | 'taken'> {
  const claim = async (): Promise<{ readonly note: Note | undefined } | 'taken'> => {
    const note = await readNote(path);
    if (note !== undefined && isRunning(note)) return 'taken';
    const { pid, host } = own;
    // A kill at this moment leaves what the one before left.
    await writeNote(path, { ...(note ?? own), pid, host });
    return { note };
  };
  try {
    return await withFileLock(path, signal, claim);
  } catch (error) {
    // The folder cannot be written, so that there is no file of another command either.
    if (error instanceof ProgramError) return { note: await readNote(path) };
    throw error;
  }
}

/** Replaces the file at once. It need not survive a power cut. */
async function writeNote(path: string, note: Note): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.${note.pid}`, JSON.stringify(note), { mode: 0o600 });
    await rename(`${path}.${note.pid}`, path);
  } catch {
    // The upload is then not continued after a kill.
  }
}

/** A command that was killed in `writeNote` leaves the file with its PID behind. */
async function removeUnfinishedNotes(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    const pid = Number(name.slice(prefix.length));
    // The lock has no number at its end.
    if (!name.startsWith(prefix) || Number.isNaN(pid) || isRunning({ pid, host: hostname() })) continue;
    await rm(join(dirname(path), name), { force: true }).catch(() => undefined);
  }
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
