import { writeSync } from 'node:fs';
import type { LineRing } from '../platform/line-ring.ts';
import { createLogger } from '../platform/logger.ts';
import type { Logger, LogLevel } from '../platform/logger.ts';

/** The log of a thread: the process' own stream and form, which a thread cannot see for itself, and what the process keeps of its lines. */
export function threadLog(level: LogLevel, terminal: boolean, kept: LineRing): Logger {
  const options = { name: 'coffer-server', level, also: (line: string) => kept.append(line) };
  if (!terminal) return createLogger(options);
  return createLogger({ ...options, stream: { isTTY: true, write: (line: string) => void writeSync(1, line) } });
}
