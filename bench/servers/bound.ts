/** The share of the machine that a round took, in percent of its time. */
export interface Shares {
  /** The processor time of each program, of all processors. */
  readonly programs: Readonly<Record<string, number>>;
  /** Of all processors. */
  readonly idle: number;
  /** The time of the busiest HTTP thread, of one processor. */
  readonly thread: number;
  /** The time in which the disk flushed. */
  readonly flushing: number;
}

/** Below this the processors count as busy, and above `FULL` a thread or a disk. */
const IDLE = 10;
const FULL = 80;

/** Returns what bounds the rate of a round. */
export function boundOf({ programs, idle, thread, flushing }: Shares): string {
  if (idle < IDLE) {
    const others = 100 - idle - Object.values(programs).reduce((sum, share) => sum + share, 0);
    const most = Object.entries(programs).toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? '';
    return others > 50 ? `other programs; ${most} most of the rest` : `processors, most by ${most}`;
  }
  if (thread >= FULL) return 'HTTP threads';
  if (flushing >= FULL) return 'flushes';
  return 'round trips';
}
