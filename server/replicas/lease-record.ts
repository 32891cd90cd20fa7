import { StoreUnavailable } from '../store/record-store.ts';

const FORMAT = 1;

/** Who holds a lease. */
export interface Term {
  /** Grows with every term. */
  readonly generation: number;
  /** The replica; undefined where its holder gave it up. */
  readonly holder?: string;
}

export function encodeTerm(term: Term): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(JSON.stringify(term))]);
}

/** The terms of a newer server are left alone: it has the lease. */
export function decodeTerm(value: Buffer): Term {
  if (value[0] !== FORMAT) {
    throw new StoreUnavailable('unreachable', `a lease has format ${value[0]}, which this server does not know`);
  }
  return JSON.parse(value.toString('utf8', 1)) as Term;
}
