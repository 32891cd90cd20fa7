import { writeSync } from 'node:fs';
import { createLogger } from '../platform/logger.ts';
import type { Logger, LogLevel } from '../platform/logger.ts';

/** The log of a thread: the process' own stream and form, which a thread cannot see for itself. */
export function threadLog(level: LogLevel, terminal: boolean): Logger {
  const name = 'coffer-server';
  if (!terminal) return createLogger({ name, level });
  return createLogger({ name, level, stream: { isTTY: true, write: (line: string) => void writeSync(1, line) } });
}
