import type { Refusal } from '../../protocol/key-service/errors.ts';
import { refuse, Refused } from '../http/refused.ts';
import { KeyStoreError } from '../keystore/keystore.ts';

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
