import { refusals, type Refusal } from '../../protocol/key-service/errors.ts';
import { KeyStoreError } from '../keystores/keystore.ts';

/** A call that the service answers with an error of the protocol. The caller gets the message; only the log gets the cause. */
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

/** Makes the error of the protocol with this name and its exact text. */
export function refuse(refusal: Refusal, options: ErrorOptions & { headers?: Record<string, string> } = {}): Refused {
  const [status, message] = refusals[refusal];
  return new Refused(status, message, options);
}

/** Waits for the key store and converts its error to one of the protocol; `otherwise` is for a failure of the store itself. */
export async function orRefuse<T>(work: Promise<T>, otherwise: Refusal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusalOf(error, otherwise);
  }
}

export function refusalOf(error: unknown, otherwise: Refusal): unknown {
  if (!(error instanceof KeyStoreError)) return error;
  switch (error.code) {
    case 'exists':
      return refuse('keyExists');
    case 'not-found':
      return refuse('keyNotFound');
    case 'invalid-name':
      return new Refused(400, `invalid argument: ${error.message}`, { cause: error });
    case 'refused':
      // The message says what the administrators of the store must change. The caller has a policy, so it may see this.
      return refuseWith(otherwise, error);
    case 'corrupted':
    case 'unreachable':
    case 'unavailable':
      return refuse(otherwise, { cause: error });
  }
}

function refuseWith(refusal: Refusal, cause: KeyStoreError): Refused {
  const { status, message } = refuse(refusal);
  return new Refused(status, `${message}: ${cause.message}`, { cause });
}
