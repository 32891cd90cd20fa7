import type { Refusal } from '../../protocol/key-service/errors.ts';
import { refuse } from '../http/refused.ts';
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
    case 'corrupted':
    case 'refused':
    case 'unreachable':
    case 'unavailable':
      return refuse(otherwise, { cause: error });
  }
}
