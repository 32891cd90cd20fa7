import type { Lock } from '../api/object-lock.ts';
import { isoOf, localText } from '../text/zoned-time.ts';

/** The form of a retention. */
export interface RetentionForm {
  readonly mode: NonNullable<Lock['mode']>;
  /** The value of a field for a time in the zone of the user; empty for none. */
  readonly until: string;
  readonly bypass: boolean;
}

type RetentionChange =
  | { readonly kind: 'none' }
  /** The form has no time. */
  | { readonly kind: 'incomplete' }
  | {
      readonly kind: 'change';
      readonly mode: NonNullable<Lock['mode']>;
      /** ISO 8601. */
      readonly until: string;
      /** The user is asked once more: no user can take it back. */
      readonly asks: boolean;
    };

export function retentionForm({ mode = 'GOVERNANCE', until = '' }: Lock, zone: string): RetentionForm {
  return { mode, until: localText(until, zone), bypass: false };
}

/** Returns what a form changes. A time that the user did not touch is the stored one, with its fractions of a second. */
export function retentionChange(lock: Lock, form: RetentionForm, zone: string): RetentionChange {
  const begun = retentionForm(lock, zone);
  const sameTime = form.until === begun.until && lock.until !== undefined;
  if (sameTime && form.mode === lock.mode) return { kind: 'none' };
  const until = sameTime ? lock.until : isoOf(form.until, zone);
  if (until === undefined || until === '') return { kind: 'incomplete' };
  return { kind: 'change', mode: form.mode, until, asks: form.mode === 'COMPLIANCE' };
}
