import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Context } from '../../context.ts';
import { printable } from '../../../../platform/text/printable.ts';

/** A file, an object or one version of it, or a folder. */
export interface Entry {
  readonly kind: 'file' | 'folder';
  /** The name below the place that is listed, with `/` between folders. That of a folder ends with `/`. */
  readonly name: string;
  /** The form for messages, which is also a valid argument: `ALIAS/bucket/key`, or a path. */
  readonly display: string;
  /** Empty for a file of this machine. */
  readonly bucket: string;
  /** The whole key, or the path of a file. */
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
  /** Undefined for files and folders. */
  readonly storageClass?: string;
  /** Set where versions are listed. */
  readonly version?: { readonly id: string; readonly latest: boolean; readonly deleteMarker: boolean };
  /** Set where incomplete uploads are listed. */
  readonly uploadId?: string;
}

/** An entry of a folder that cannot be read. The walk continues. */
interface UnreadableEntry {
  readonly kind: 'unreadable';
  /** As in `Entry`. Bytes that are not UTF-8 are replacement characters. That of a folder ends with `/`. */
  readonly name: string;
  readonly display: string;
  readonly error: unknown;
}

/** A link to a folder. Commands skip it with a warning, since links may form a cycle. */
interface SkippedEntry {
  readonly kind: 'skipped';
  /** As in `Entry`. */
  readonly name: string;
  readonly display: string;
  readonly reason: string;
}

export type Walked = Entry | UnreadableEntry | SkippedEntry;

/** Counts and prints the failures of a command that continues after them. */
export class Failures {
  readonly #context: Context;
  #count = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  get count(): number {
    return this.#count;
  }

  /** Prints a failure. After an interruption it throws instead. `doing` is for example `Unable to read \`x\``. */
  report(error: unknown, doing: string): void {
    this.#context.signal.throwIfAborted();
    this.#count += 1;
    this.#context.output.error(error, 'error', doing);
  }

  /** @throws ProgramError Reported, so that the exit code is 1 */
  throwIfAny(): void {
    if (this.#count > 0) throw new ProgramError('Reported', `${this.#count} failures`);
  }
}

/** Yields the entries that can be read, and reports the others. */
export async function* readable(
  context: Context,
  pages: AsyncIterable<readonly Walked[]>,
  failures: Failures,
): AsyncGenerator<Entry, void, undefined> {
  for await (const page of pages) for (const one of page) if (isReadable(context, one, failures)) yield one;
}

/** The choices of a walk at an entry that it does not follow or cannot read. */
interface Choices {
  /** Leaves a name out without a word. */
  readonly isExcluded?: (name: string) => boolean;
  /** Receives the names of links to folders. */
  readonly onSkipped?: (name: string) => void;
}

/** The same entries, a page at a time. */
export async function* readablePages(
  context: Context,
  pages: AsyncIterable<readonly Walked[]>,
  failures: Failures,
  { isExcluded = () => false, onSkipped = () => {} }: Choices = {},
): AsyncGenerator<readonly Entry[], void, undefined> {
  for await (const page of pages) {
    for (const one of page) if (one.kind === 'skipped') onSkipped(one.name);
    yield page.filter((one): one is Entry => !isExcluded(one.name) && isReadable(context, one, failures));
  }
}

function isReadable({ output }: Context, one: Walked, failures: Failures): one is Entry {
  if (one.kind === 'unreadable') failures.report(one.error, `Unable to read \`${printable(one.display)}\``);
  else if (one.kind === 'skipped') output.warn('left-out', `\`${printable(one.display)}\` is left out: ${one.reason}`);
  else return true;
  return false;
}
