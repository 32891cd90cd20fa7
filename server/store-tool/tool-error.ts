/** What this program cannot do, for the person who runs it: the message says what to do. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** The command line is not one that the program understands: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
