/**
 * A failure of the target of events, of replicas or of audit entries. `rejected`: it refuses this event, version or entry, and may take others. `unavailable`: a
 * repetition may succeed. `impossible`: no repetition can. It is not a `ResponseError`: its code says what the queue does next, for targets
 * of every protocol.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: 'rejected' | 'unavailable' | 'impossible';
  /** The status of the answer, if one came. */
  readonly status: number | undefined;

  constructor(code: DeliveryError['code'], message: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.code = code;
    this.status = options.status;
  }
}
