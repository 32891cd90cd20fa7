import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { flushLogOutputs, LogOutput } from './log-output.ts';
import { redactSecrets, redactText } from './redact-secrets.ts';
import { writeWithoutWaiting } from './standard-output.ts';
import { formatForTerminal } from './terminal-log-format.ts';

export type Logger = PinoLogger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

interface LoggerOptions {
  readonly level?: LogLevel;
  /** The name of the program, e.g. `coffer-server`. */
  readonly name: string;
  /** The destination of lines, standard output by default. Lines are JSON unless it is a terminal. */
  readonly stream?: DestinationStream & { readonly isTTY?: boolean };
  /** Also receives each line, as JSON. */
  readonly also?: (line: string) => void;
}

/**
 * Makes the log of the program: JSON lines, or short readable ones on a terminal. It removes secrets by the names of their fields, also in
 * nested objects, errors and URLs. This is a second line of defence: callers must not log secrets.
 */
export function createLogger(options: LoggerOptions): Logger {
  const terminal = options.stream === undefined ? isatty(1) : options.stream.isTTY === true;
  const format = terminal ? formatForTerminal : (line: string) => line;
  const stream = options.stream ?? standardOutput((count) => format(droppedLine(options.name, count)));
  const printed = { write: (line: string) => stream.write(format(line)) };
  const destination = options.also === undefined ? printed : both(printed, options.also);
  const log = pino(
    {
      level: options.level ?? 'info',
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      // The code below converts errors together with the other fields.
      serializers: { err: (error: unknown) => error },
      formatters: {
        level: (label) => ({ level: label }),
        log: (object) => redactSecrets(object),
      },
      hooks: {
        logMethod(args, method) {
          // pino types arguments as those of one overload. The code moves errors and changes texts only.
          const clean = errorAsField(args).map((arg) => (typeof arg === 'string' ? redactText(arg) : arg));
          method.apply(this, clean as typeof args);
        },
      },
    },
    destination,
  );
  return redactChildren(log);
}

/**
 * Writes the warnings of this thread's runtime to the log, such as that of a timer with a negative time. Node prints them as plain lines, which a
 * reader of JSON lines cannot take.
 */
export function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'warning of the runtime'));
}

function both(printed: DestinationStream, also: (line: string) => void): DestinationStream {
  return {
    write(line) {
      printed.write(line);
      also(line.trimEnd());
    },
  };
}

/** Moves a bare error into a field: pino would log its message unchanged. */
function errorAsField(args: readonly unknown[]): readonly unknown[] {
  const [first, ...rest] = args;
  if (!(first instanceof Error)) return args;
  return rest.length === 0 ? [{ err: first }, first.message] : [{ err: first }, ...rest];
}

/**
 * Redacts the fields of child logs, which pino fixes when it makes the child, without the formatters. Children inherit this from their
 * parent.
 */
function redactChildren(log: Logger): Logger {
  // oxlint-disable-next-line typescript/unbound-method -- it is called below with the log it belongs to
  const { child } = log;
  const redacted: Logger['child'] = function (this: Logger, bindings, options) {
    return child.call(this, redactSecrets(bindings), options);
  } as Logger['child'];
  log.child = redacted;
  return log;
}

let flushesAtExit = false;

function standardOutput(missing: (count: number) => string): DestinationStream {
  if (!flushesAtExit) process.on('exit', flushLogOutputs);
  flushesAtExit = true;
  return new LogOutput({ write: writeWithoutWaiting, droppedLine: missing });
}

/** Returns the line in the place of those that no reader took in time. */
function droppedLine(name: string, count: number): string {
  const msg = `${count} lines of the log are missing here: its reader did not read them in time, or they could not be written`;
  const line = { level: 'warn', time: new Date().toISOString(), name, event: 'log-lines-dropped', count, msg };
  return `${JSON.stringify(line)}\n`;
}
