import { CodedError } from '../../protocol/coded-error.ts';

/**
 * A failure of the target of events, of replicas or of audit entries. `rejected`: it refuses this event, version or entry, and may take others. `unavailable`: a
 * repetition may succeed. `impossible`: no repetition can. It is not a `ResponseError`: its code says what the queue does next, for targets
 * of every protocol.
 */
export class DeliveryError extends CodedError<'rejected' | 'unavailable' | 'impossible'> {
  override readonly name = 'DeliveryError';
  /** The status of the answer, if one came. */
  readonly status: number | undefined;

  constructor(
    code: 'rejected' | 'unavailable' | 'impossible',
    message: string,
    options: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(code, message, options);
    this.status = options.status;
  }
}
