import { KeyError } from '../keystores/keystore.ts';
import { RequestError } from '../../protocol/request-error.ts';
import { refusals, type Refusal } from '../../protocol/key-service/errors.ts';

type CallErrorOptions = ErrorOptions & { readonly headers?: Record<string, string> };

/** Makes the error of the protocol with this name and its exact text. The caller gets the message; only the log gets the cause. */
export function callError(refusal: Refusal, options?: CallErrorOptions): RequestError {
  const [status, message] = refusals[refusal];
  return new RequestError('key-service', refusal, status, message, options);
}

/** Makes an error of a call for which the protocol has no exact text. */
export function rejectedCall(status: number, message: string, options?: CallErrorOptions): RequestError {
  return new RequestError('key-service', 'rejected', status, message, options);
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
      return rejectedCall(400, `invalid argument: ${error.message}`, { cause: error });
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

function withCauseOf(refusal: Refusal, cause: KeyError): RequestError {
  const { status, message } = callError(refusal);
  return rejectedCall(status, `${message}: ${cause.message}`, { cause });
}
