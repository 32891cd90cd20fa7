import type { Measured } from './session.ts';
import type { Endpoint } from './endpoint.ts';
import type { Round } from '../loads/load.ts';

/** What the benchmark asks of its generator's process: `prepare`, `run` and `finish` follow each other. */
export type GeneratorRequest =
  | { readonly kind: 'make-bucket'; readonly endpoint: Endpoint }
  | { readonly kind: 'prepare'; readonly load: string; readonly round: Round }
  | { readonly kind: 'run' }
  | { readonly kind: 'finish' }
  | Fill;

/** Writes this many times, over `objects` objects in turn. */
export interface Fill {
  readonly kind: 'fill';
  readonly endpoint: Endpoint;
  readonly prefix: string;
  readonly objects: number;
  /** Of each. */
  readonly bytes: number;
  readonly writes: number;
  readonly connections: number;
}

export type GeneratorAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'measured'; readonly measured: Measured }
  | { readonly kind: 'failed'; readonly message: string };
