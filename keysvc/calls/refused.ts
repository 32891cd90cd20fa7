import { refusals, type Refusal } from '../../protocol/key-service/errors.ts';
import { KeyStoreError } from '../keystores/keystore.ts';

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

/** Waits for work on the key store and turns its failure into the protocol's error; `otherwise` where the store itself failed. */
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
      // The store says what its administrators must mend, and the caller is one whom a policy admits.
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
