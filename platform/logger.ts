import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { redactSecrets, redactText } from './redact-secrets.ts';
import { formatForTerminal } from './terminal-log-format.ts';

export type Logger = PinoLogger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** The program, e.g. `coffer-server`. */
  readonly name: string;
  /** Where lines go; standard output by default. Lines are JSON unless it is a terminal. */
  readonly stream?: DestinationStream & { readonly isTTY?: boolean };
  /** Given each line too, as JSON. */
  readonly also?: (line: string) => void;
}

/**
 * The program's log: JSON lines, or short readable ones on a terminal. Secrets are taken out by the names of their fields, in
 * nested objects, errors and URLs too; that is a net below callers who do not log secrets in the first place.
 */
export function createLogger(options: LoggerOptions): Logger {
  const terminal = options.stream === undefined ? isatty(1) : options.stream.isTTY === true;
  const stream = options.stream ?? standardOutput();
  const printed = terminal ? { write: (line: string) => stream.write(formatForTerminal(line)) } : stream;
  const destination = options.also === undefined ? printed : both(printed, options.also);
  const log = pino(
    {
      level: options.level ?? 'info',
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are made plain together with the other fields, below.
      serializers: { err: (error: unknown) => error },
      formatters: {
        level: (label) => ({ level: label }),
        log: (object) => redactSecrets(object),
      },
      hooks: {
        logMethod(args, method) {
          // pino types arguments as those of one overload; all that changes here are an error's place and the texts.
          const clean = errorAsField(args).map((arg) => (typeof arg === 'string' ? redactText(arg) : arg));
          method.apply(this, clean as typeof args);
        },
      },
    },
    destination,
  );
  return redactChildren(log);
}

function both(printed: DestinationStream, also: (line: string) => void): DestinationStream {
  return {
    write(line) {
      printed.write(line);
      also(line.trimEnd());
    },
  };
}

/** pino would take the message of a bare error as it is. */
function errorAsField(args: readonly unknown[]): readonly unknown[] {
  const [first, ...rest] = args;
  if (!(first instanceof Error)) return args;
  return rest.length === 0 ? [{ err: first }, first.message] : [{ err: first }, ...rest];
}

/** Fields of child logs are fixed when the child is made, past the formatters. Children inherit this from their parent. */
function redactChildren(log: Logger): Logger {
  // oxlint-disable-next-line typescript/unbound-method -- it is called below with the log it belongs to
  const { child } = log;
  const redacted: Logger['child'] = function (this: Logger, bindings, options) {
    return child.call(this, redactSecrets(bindings), options);
  } as Logger['child'];
  log.child = redacted;
  return log;
}

/** Written synchronously: a line is out before the process that wrote it can die. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: true });
  // Who read the log is gone; that must not take the program down.
  destination.on('error', () => undefined);
  return destination;
}
