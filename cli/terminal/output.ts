import { errorText } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { paintFor, type Paint } from './colors.ts';
import { textTable } from './format.ts';
import type { Io } from './io.ts';
import { ResponseError } from '../../protocol/response-error.ts';

interface Described {
  /** The message has no full stop at the end. */
  readonly message: string;
  readonly cause: string;
  /** The fields of the error of the server or the system. */
  readonly details: Readonly<Record<string, string>>;
}

/** `context` names the failed action: `Unable to list \`local/b\``. */
export function describeError(failure: unknown, context?: string): Described {
  const [message, cause] =
    failure instanceof ProgramError ? [failure.message, failure.cause] : [context ?? 'The command failed', failure];
  const said = cause === undefined ? '' : sentence(cause);
  return { message: plain(message), cause: plain(said), details: details(cause ?? failure) };
}

const trustIt =
  '`coffer alias set` shows it and asks whether to trust it; or put it into certs/CAs of the configuration folder, or use --insecure';

const networkReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the server did not answer in time',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'the host cannot be reached',
  DEPTH_ZERO_SELF_SIGNED_CERT: `the certificate is self-signed; ${trustIt}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the certificate authority is unknown; ${trustIt}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the certificate authority is unknown; ${trustIt}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the certificate authority is unknown; ${trustIt}`,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired, or a clock is wrong',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

function sentence(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof ResponseError) return cause.message;
  const code = (cause as NodeJS.ErrnoException).code;
  const reason = code === undefined ? undefined : networkReasons[code];
  // After attempts at several addresses the message is empty and the errors are in a list.
  const inner = cause instanceof AggregateError && cause.message === '' ? cause.errors.at(0) : cause;
  const said = errorText(inner);
  return reason === undefined ? said : `${said}: ${reason}`;
}

function details(cause: unknown): Record<string, string> {
  if (cause instanceof ResponseError) return { Code: cause.code, Message: cause.message, ...cause.fields };
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return code === undefined ? {} : { Code: code };
}

/** Returns one line without a full stop and without control characters, since the text comes from a server. */
function plain(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .replace(/\.+$/, '');
}

/** Characters that are written at once. */
const maxHeld = 32_768;

/** Bytes for which a listing does not wait. */
const maxBuffered = 65_536;

/** The types of warnings, by which scripts tell them apart. */
export const warningTypes = [
  /** A link, or a name that no pattern can mean. */
  'left-out',
  /** `mirror` without `--overwrite`. */
  'older',
  /** Objects whose copies have no tags, locks or earlier versions. */
  'tags',
  'locks',
  'versions',
  /** Sources that changed during the command. */
  'changed',
  /** A key that is the beginning of names. */
  'prefix',
  /** A server that does not answer, or is not ready, is asked again. */
  'retry',
  /** The stream of events broke off. */
  'events',
  /** A secret on the command line. */
  'secret',
  /** Permissions of anonymous callers for prefixes above or below the one that was set. */
  'anonymous',
  /** Effects of a policy that its author may not want. */
  'policy',
  /** The identity provider. */
  'provider',
] as const;

export type WarningType = (typeof warningTypes)[number];

interface OutputOptions {
  readonly json: boolean;
  /** False for none at all. */
  readonly color?: boolean | undefined;
  readonly pager?: Writable | undefined;
  /** Prints no messages for people, only errors, warnings and JSON. */
  readonly quiet?: boolean;
}

/** Prints messages for people; with `--json` one line of JSON for each, including errors. */
export class Output {
  readonly json: boolean;
  /** Colors a part of a message. */
  readonly paint: Paint;
  readonly #io: Io;
  readonly #quiet: boolean;
  readonly #out: Writable;
  readonly #paintError: Paint;
  /** Set while the last line of the terminal shows a progress bar. */
  #wipe: (() => void) | undefined;
  /** Messages that are not written yet. */
  #held = '';

  constructor(io: Io, options: OutputOptions) {
    this.#io = io;
    this.#out = options.pager ?? io.stdout;
    this.json = options.json;
    this.#quiet = options.quiet === true;
    this.paint = paintFor(io.stdout, io.env, options.color !== false && !options.json);
    this.#paintError = paintFor(io.stderr, io.env, options.color !== false && !options.json);
  }

  /** Prints a message; JSON gets `status: "success"` and the fields. An empty `human` prints nothing. */
  message(human: string, fields: Readonly<Record<string, unknown>>): void {
    this.flush();
    this.#wipe?.();
    this.#out.write(this.#textOf(human, fields));
  }

  /** Like `message`, for data that was asked for: `--quiet` does not hide it in a command that otherwise says what it did. */
  data(human: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.json) this.message('', fields);
    else {
      this.flush();
      this.#wipe?.();
      this.#out.write(`${human}\n`);
    }
  }

  #textOf(human: string, fields: Readonly<Record<string, unknown>>): string {
    if (this.json) return `${JSON.stringify({ status: 'success', ...fields })}\n`;
    return human === '' || this.#quiet ? '' : `${human}\n`;
  }

  /** Formats a table that fits the terminal. */
  table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
    const { isTTY, columns } = this.#io.stdout;
    return textTable(titles, rows, isTTY === true ? columns : undefined);
  }

  /** Prints one text, such as a table; as JSON one line for each item. */
  list(human: string, items: readonly Readonly<Record<string, unknown>>[]): void {
    if (this.json) for (const item of items) this.message('', item);
    else this.message(human, {});
  }

  /** Suggests the next step; not in JSON. */
  hint(text: string): void {
    if (!this.json) this.message(text, {});
  }

  /** Like `message`, but waits while the reader is slow, so that a long listing is not buffered in memory. */
  async line(human: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    this.add(
      () => human,
      () => fields,
    );
    if (this.#out.writableLength > maxBuffered) await this.drained();
  }

  /**
   * Holds a message of a long listing, until several can be written at once: a call of the system for each would take longer than all the
   * rest. They are written in this turn of the event loop, and before any other message. Only the form that is printed is asked for.
   */
  add(human: () => string, fields: () => Readonly<Record<string, unknown>>): void {
    if (this.#held === '') setImmediate(() => this.flush());
    this.#held += this.json ? this.#textOf('', fields()) : this.#textOf(human(), {});
    if (this.#held.length > maxHeld) this.flush();
  }

  /** Writes the messages that are held. */
  flush(): void {
    if (this.#held === '') return;
    const text = this.#held;
    this.#held = '';
    this.#wipe?.();
    this.#out.write(text);
  }

  async drained(): Promise<void> {
    this.flush();
    // A pager that the user has left needs no more.
    if (!this.#out.writableNeedDrain || this.#out.destroyed) return;
    await once(this.#out, 'drain', { signal: this.#io.signal });
  }

  /** `fatal` ends the command; `error` belongs to one of several arguments. */
  error(failure: unknown, type: 'fatal' | 'error', context?: string): void {
    this.flush();
    this.#wipe?.();
    const { message, cause, details } = describeError(failure, context);
    if (this.json) {
      const error = { message, cause: { message: cause, error: details }, type };
      this.#io.stdout.write(`${JSON.stringify({ status: 'error', error })}\n`);
    } else {
      this.#io.stderr.write(
        `coffer: ${this.#paintError('error', '<ERROR>')} ${message}.${cause === '' ? '' : ` ${cause}.`}\n`,
      );
    }
  }

  /** Says what a command leaves undone, or what the user should know. `text` has no full stop at its end. */
  warn(type: WarningType, text: string): void {
    this.flush();
    this.#wipe?.();
    const message = plain(text);
    if (this.json) {
      this.#io.stdout.write(`${JSON.stringify({ status: 'warning', warning: { message, type } })}\n`);
    } else this.#io.stderr.write(`coffer: ${this.#paintError('warning', '<WARNING>')} ${message}.\n`);
  }

  /** Sets a function that removes the progress bar before a message is printed. */
  beforeEach(wipe: (() => void) | undefined): void {
    this.#wipe = wipe;
  }
}
