import { refusals, type Refusal } from '../../protocol/key-service/errors.ts';
import { KeyError } from '../keystores/keystore.ts';

/** A call that the service answers with an error of the protocol. The caller gets the message; only the log gets the cause. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options);
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** Makes the error of the protocol with this name and its exact text. */
export function callError(
  refusal: Refusal,
  options: ErrorOptions & { headers?: Record<string, string> } = {},
): CallError {
  const [status, message] = refusals[refusal];
  return new CallError(status, message, options);
}

/** Waits for the key store and converts its error to one of the protocol; `otherwise` is for a failure of the store itself. */
export async function withCallErrors<T>(work: Promise<T>, otherwise: Refusal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toCallError(error, otherwise);
  }
}

export function toCallError(error: unknown, otherwise: Refusal): unknown {
  if (!(error instanceof KeyError)) return error;
  switch (error.code) {
    case 'exists':
      return callError('keyExists');
    case 'not-found':
      return callError('keyNotFound');
    case 'invalid-name':
      return new CallError(400, `invalid argument: ${error.message}`, { cause: error });
    case 'refused':
      // The message says what the administrators of the store must change. The caller has a policy, so it may see this.
      return withCauseOf(otherwise, error);
    case 'not-authentic':
    case 'unknown-version':
      return callError('notAuthentic');
    case 'corrupted':
    case 'not-ensured':
    case 'unreachable':
    case 'unavailable':
      return callError(otherwise, { cause: error });
  }
}

function withCauseOf(refusal: Refusal, cause: KeyError): CallError {
  const { status, message } = callError(refusal);
  return new CallError(status, `${message}: ${cause.message}`, { cause });
}
