import { refusals } from '../../protocol/key-service/errors.ts';
import type { Refusal } from '../../protocol/key-service/errors.ts';

/** A call that is answered by an error of the protocol. The message goes to the caller; the cause only to the log. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options);
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** An error of the protocol by its name, with its exact text. */
export function refuse(refusal: Refusal, options: ErrorOptions & { headers?: Record<string, string> } = {}): Refused {
  const [status, message] = refusals[refusal];
  return new Refused(status, message, options);
}
