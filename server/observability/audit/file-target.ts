import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLogger, AuditReport, AuditTarget } from './audit-target.ts';

/** The maximum of bytes that wait while the disk does not take them. */
const maxWaitingBytes = 64 * 1024 * 1024;

interface FileTargetOptions {
  readonly path: string;
  readonly report: AuditReport;
  readonly log: AuditLogger;
  /** Milliseconds until a file that could not be written is tried again. */
  readonly retryMs?: number;
}

/** Appends entries to a file, one on each line. Only the owner may read the file. */
export class FileTarget implements AuditTarget {
  readonly name = 'file';
  readonly #path: string;
  readonly #report: AuditReport;
  readonly #log: AuditLogger;
  readonly #retryMs: number;
  #handle: FileHandle | undefined;
  #lines: string[] = [];
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #stopped = false;
  /** The file was renamed. */
  #moved = false;
  /** The last line in the file may be incomplete. */
  #torn = false;
  #losing = false;
  #failing = false;

  private constructor(handle: FileHandle, { path, report, log, retryMs = 1_000 }: FileTargetOptions) {
    this.#handle = handle;
    this.#path = path;
    this.#report = report;
    this.#log = log;
    this.#retryMs = retryMs;
  }

  /** Rejects with the error of the file system where it cannot be written. */
  static async open(options: FileTargetOptions): Promise<FileTarget> {
    return new FileTarget(await openFile(options.path), options);
  }

  take(line: string): void {
    if (this.#bytes + line.length > maxWaitingBytes) {
      this.#report.dropped(1);
      if (!this.#losing) this.#log.error({ event: 'audit-lost' }, `audit entries for ${this.#path} are lost`);
      this.#losing = true;
      return;
    }
    this.#losing = false;
    this.#lines.push(line);
    this.#bytes += line.length;
    this.#report.waiting(this.#lines.length);
    this.#start();
  }

  reopen(): void {
    this.#moved = true;
    this.#start();
  }

  async close(withinMs: number): Promise<void> {
    const late = setTimeout(() => {
      this.#stopped = true;
    }, withinMs);
    await this.#writing;
    clearTimeout(late);
    if (this.#lines.length > 0) this.#report.dropped(this.#lines.length);
    await this.#handle?.sync();
    await this.#handle?.close();
    this.#handle = undefined;
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    while ((this.#moved || this.#lines.length > 0) && !this.#stopped) {
      const lines = this.#lines;
      const text = lines.map((line) => `${line}\n`).join('');
      this.#lines = [];
      try {
        if (this.#moved) await this.#begin();
        this.#handle ??= await openFile(this.#path);
        await this.#handle.appendFile(this.#torn ? `\n${text}` : text);
      } catch (error) {
        this.#lines = [...lines, ...this.#lines];
        await this.#afterFailure(error);
        continue;
      }
      this.#torn = false;
      this.#report.tried(true);
      this.#bytes -= text.length - lines.length;
      this.#report.sent(lines.length);
      this.#report.waiting(this.#lines.length);
      if (this.#failing) this.#log.info({ event: 'audit-back' }, `audit entries are written to ${this.#path} again`);
      this.#failing = false;
    }
  }

  async #begin(): Promise<void> {
    const former = this.#handle;
    this.#handle = undefined;
    this.#moved = false;
    await former?.close();
  }

  /** An incomplete line is written again, on a line of its own. */
  async #afterFailure(error: unknown): Promise<void> {
    this.#report.tried(false);
    if (!this.#failing) {
      this.#log.error(
        { event: 'audit-away', err: error },
        `audit entries cannot be written to ${this.#path}; they wait`,
      );
    }
    this.#failing = true;
    this.#torn = true;
    const handle = this.#handle;
    this.#handle = undefined;
    try {
      await handle?.close();
    } catch {
      // The handle is useless now, whatever its error is.
    }
    await sleep(this.#retryMs);
  }
}

function openFile(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600);
}
