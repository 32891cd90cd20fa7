/** A failure of a remote target. `rejected`: it refuses this version, and may take others. `impossible`: no repetition can succeed. */
export class ReplicationError extends Error {
  override readonly name = 'ReplicationError';
  readonly code: 'rejected' | 'unavailable' | 'impossible';
  /** The status of the answer. */
  readonly status: number | undefined;

  constructor(
    code: ReplicationError['code'],
    message: string,
    options: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = options.status;
  }
}
