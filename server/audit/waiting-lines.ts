/** Entries that wait for a target, in order. */
export interface WaitingLines {
  /** Those that are neither delivered nor given up. */
  readonly count: number;
  /** False where there is no room for it: the line is lost. */
  push(line: string): boolean;
  /** The next ones, as soon as there are some; undefined once it was ended and nothing is left. */
  next(): Promise<readonly string[] | undefined>;
  /** What `next` answered last is delivered or given up. */
  done(): Promise<void>;
  /** Nothing more comes. */
  end(): Promise<void>;
}

/** Bounds on what waits, in lines and in bytes. */
export interface WaitingBounds {
  readonly lines: number;
  readonly bytes: number;
}
