import type { RemoteAnswer } from './remote.ts';

/** What a call of a vendor's client came to: its value, or the vault's answer where that is no success. */
export type Outcome<T> = { readonly value: T } | { readonly refusal: RemoteAnswer };
