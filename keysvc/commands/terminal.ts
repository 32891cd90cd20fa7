/** What the commands read from and write to; tests hand in their own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads what is written; else a program does. */
  readonly isTerminal: boolean;
  readonly write: (text: string | Uint8Array) => void;
  /** For what is no result: progress, warnings. */
  readonly tell: (text: string) => void;
  /** What a person types without its being shown; undefined where no person is there. */
  readonly askSecret: (question: string) => Promise<string | undefined>;
  /** All of the standard input. */
  readonly readInput: () => Promise<Buffer>;
  /** Comes when the person ends a command that goes on by itself. */
  readonly interrupted: AbortSignal;
}
