import { counted } from '../../../../platform/text/message-text.ts';
import { resolve } from 'node:path';
import { semaphore } from '../../../../platform/async/concurrency.ts';
import { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { descriptorOf } from '../../../config/descriptor-path.ts';
import { formatSize } from '../../../terminal/format.ts';
import { printable } from '../../../../platform/text/printable.ts';
import { Progress } from '../../../terminal/progress.ts';
import type { Context } from '../../context.ts';
import { Failures } from '../entries/entry.ts';
import { ageTest } from '../entries/times.ts';
import { locationOf, type CopyDestination } from './copy-destination.ts';
import { copyOne, type Copied } from './copy-one.ts';
import type { CopyOptions } from './copy-options.ts';
import { SourceChangedError } from './source-state.ts';
import type { FoundSource, WalkedSource } from './find-sources.ts';
import { givenHeaders, wantedDigests, workersOf, type TransferOptions } from './transfer-options.ts';
import { multipartOf } from './upload.ts';
import { Downloads } from './download.ts';
import { UploadSessions } from '../../../s3/upload-sessions.ts';

/** Copies the sources of one command, shows the progress and adds up the result. */
export class Transfer {
  readonly failures: Failures;
  readonly encryption: EncryptionRules;
  /** Concurrent copies. */
  readonly workers: number;
  readonly #context: Context;
  readonly #options: Omit<CopyOptions, 'count'>;
  readonly #progress: Progress;
  readonly #isOfAge: (modified: Date) => boolean;
  readonly #dryRun: boolean;
  #found = 0;
  #copied = 0;
  /** Objects whose copies did not get their tags, because they are files, or their lock. */
  readonly #left = { tags: 0, lock: 0 };
  #toOutput = false;
  /** The names of the copies so far, where several sources are copied. */
  readonly #names: Set<string> | undefined;
  /** The sources that changed during each attempt to copy them, or before a move removed them. */
  readonly #changed: string[] = [];

  /** @param args what the command names: its sources and its target */
  constructor(context: Context, args: readonly string[], options: TransferOptions) {
    const { io, output, quiet } = context;
    const now = new Date();
    this.#context = context;
    this.encryption = new EncryptionRules(options, io.env, args);
    this.failures = new Failures(context);
    const { copies, large } = workersOf(options, io.env);
    this.workers = copies;
    this.#isOfAge = ageTest(options, now);
    this.#dryRun = options.dryRun === true;
    // The last argument is the target.
    this.#names = args.length > 2 ? new Set() : undefined;
    this.#options = {
      multipart: multipartOf(io.env, options),
      given: givenHeaders(options, now),
      preserve: options.preserve === true,
      keepsLock: options.preserve === true || options.keepLock === true,
      digests: wantedDigests(options),
      zip: options.zip === true,
      inPlace: options.recursive !== true,
      encryption: this.encryption,
      semaphore: semaphore(large),
      large: semaphore(large),
      parallel: large,
      downloads: new Downloads(context.io),
      sessions: new UploadSessions(context.folder),
      onLeft: (what) => (this.#left[what] += 1),
    };
    this.#progress = new Progress(io, output, io.stdout.isTTY === true && !quiet && !output.json && !this.#dryRun);
  }

  get copied(): number {
    return this.#copied;
  }

  /** Bytes that arrived. */
  get transferred(): number {
    return this.#progress.done;
  }

  /** Copies a source, and reports a failure. Returns a copy that succeeded. `event` is the change that made the copy. */
  async copy(
    source: WalkedSource,
    destination: CopyDestination,
    event: Readonly<Record<string, string>> = {},
  ): Promise<Copied | undefined> {
    if (source.kind === 'skipped') {
      this.#context.output.warn('left-out', `\`${printable(source.display)}\` is left out: ${source.reason}`);
      return undefined;
    }
    if (source.kind === 'unreadable') {
      this.#found += 1;
      this.failures.report(source.error, `Unable to read \`${printable(source.display)}\``);
      return undefined;
    }
    if (source.kind !== 'stream' && !this.#isOfAge(source.modified)) return undefined;
    this.#found += 1;
    if (this.#names?.has(source.name) === true) {
      const text = `\`${printable(source.display)}\` and a source before it become one name, \`${printable(source.name)}\``;
      this.failures.report(new ProgramError('Unsafe', text), 'Unable to copy');
      return undefined;
    }
    this.#names?.add(source.name);
    return this.#dryRun ? this.#show(source, destination) : this.#copy(source, destination, event);
  }

  /** Ends the upload that an earlier command left of an object that is there already. A failure is reported. */
  async endUpload(name: string, destination: CopyDestination): Promise<void> {
    const { target } = destination;
    if (target.kind === 'local' || this.#dryRun) return;
    try {
      const location = locationOf(destination, name);
      if (location.kind === 'remote')
        await this.#options.sessions.end(await this.#context.client(target.alias), location);
    } catch (error) {
      this.failures.report(error, `Unable to end an earlier upload of \`${printable(name)}\``);
    }
  }

  async #show(source: FoundSource, destination: CopyDestination): Promise<undefined> {
    try {
      const target = locationOf(destination, source.name).display;
      const human = `Would copy \`${printable(source.display)}\` -> \`${printable(target)}\``;
      const { display, size } = source;
      const from = source.kind === 'file' ? resolve(source.path) : display;
      await this.#context.output.line(human, { source: from, target, size, dryRun: true });
    } catch (error) {
      this.failures.report(error, `Unable to copy \`${printable(source.display)}\``);
    }
  }

  async #copy(
    source: FoundSource,
    destination: CopyDestination,
    event: Readonly<Record<string, string>>,
  ): Promise<Copied | undefined> {
    const progress = this.#progress;
    progress.expect(source.name, source.size);
    let counted = 0;
    const count = (bytes: number): void => {
      counted += bytes;
      progress.add(bytes);
      // The size of a stream is not known before its end.
      if (source.kind === 'stream') progress.expect(source.name, bytes);
    };
    try {
      const copied = await copyOne(this.#context, source, destination, { ...this.#options, count });
      this.#copied += 1;
      const { location } = copied;
      if (source.kind !== 'stream') progress.expect(source.name, copied.source.size - source.size);
      // The bytes of a copy to standard output are alone there.
      if (await this.#isStandardOutput(destination)) return copied;
      const shown = `\`${printable(source.display)}\` -> \`${printable(location.display)}\``;
      await this.#context.output.line(progress.visible ? '' : shown, {
        source: source.kind === 'file' ? resolve(source.path) : source.display,
        target: location.display,
        size: source.kind === 'stream' ? counted : copied.source.size,
        totalCount: this.#found,
        totalSize: progress.total,
        ...event,
      });
      return copied;
    } catch (error) {
      // The bytes of a failed copy do not count.
      progress.add(-counted);
      this.reportFailure(source, error, `Unable to copy \`${printable(source.display)}\``);
      return undefined;
    }
  }

  /** Reports a failure. The end of the command names each source that changed. */
  reportFailure(source: FoundSource, error: unknown, doing: string): void {
    this.failures.report(error, doing);
    if (error instanceof SourceChangedError) this.#changed.push(source.display);
  }

  async #isStandardOutput({ target, folder }: CopyDestination): Promise<boolean> {
    this.#toOutput ||= !folder && target.kind === 'local' && (await descriptorOf(target.path)) === 1;
    return this.#toOutput;
  }

  /** Removes the progress bar. */
  stop(): void {
    this.#progress.stop();
  }

  /** Says once what the copies did not get of their sources. */
  warnOfRest(): void {
    const { tags, lock } = this.#left;
    if (tags > 0) this.#context.output.warn('tags', `The tags of ${counted(tags, 'object')} are left behind`);
    if (lock > 0)
      this.#context.output.warn(
        'locks',
        `The locks of ${counted(lock, 'object')} are left behind: --preserve keeps them`,
      );
    Object.assign(this.#left, { tags: 0, lock: 0 });
  }

  #nameChanged(): void {
    if (this.#changed.length === 0) return;
    const names = this.#changed.toSorted().map((name) => `\`${printable(name)}\``);
    const subject = counted(names.length, 'source');
    this.#context.output.warn(
      'changed',
      `${subject} changed during the command, so that the target lacks the last bytes: ${names.join(', ')}`,
    );
  }

  /** Prints the sums. @throws ProgramError Reported if a copy failed */
  finish({ always = false }: { readonly always?: boolean } = {}): void {
    // A download of a single object would warn of its tags each time.
    this.#left.tags = 0;
    this.warnOfRest();
    const { done, total, seconds } = this.#progress;
    const speed = seconds > 0 ? done / seconds : 0;
    const sums = `Total: ${formatSize(total)}, Transferred: ${formatSize(done)}, Speed: ${formatSize(Math.round(speed))}/s`;
    if (!this.#dryRun && !this.#toOutput && (always || total > 0 || this.#copied > 0)) {
      const fields = { total, transferred: done, duration: Math.round(seconds * 1e9), speed };
      this.#context.output.message(this.#progress.visible ? '' : sums, fields);
    }
    this.#nameChanged();
    const { count } = this.failures;
    if (count > 0) throw new ProgramError('Reported', `${count} of ${this.#found} copies failed`);
  }
}
