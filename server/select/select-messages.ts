import type { S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import type { QueryBudget } from './query-budget.ts';
import type { SelectRequest } from './select-request.ts';

/** A message of the server to the process of a query. */
export type ToQuery =
  | {
      readonly kind: 'start';
      readonly request: SelectRequest;
      readonly size: number;
      readonly now: number;
      readonly budget: QueryBudget;
    }
  /** The next chunk of what was opened; undefined at its end. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array | undefined }
  /** The client took the last message of the answer. */
  | { readonly kind: 'taken' };

/** A message of the process of a query. Each message but `end` and `failed` is answered by one. */
export type FromQuery =
  | { readonly kind: 'open'; readonly start: number; readonly end: number }
  | { readonly kind: 'next' }
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  /** The query failed before its first message. Without a code it is a defect. */
  | { readonly kind: 'failed'; readonly code: S3ErrorCode | undefined; readonly message: string };
