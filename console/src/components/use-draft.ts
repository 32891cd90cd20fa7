import { useLayoutEffect, useState, type Dispatch, type SetStateAction } from 'react';
import { useLocation } from 'react-router';
import { drafts } from '../api/draft-storage.ts';

/** Removes the secret key of a form. */
export function withoutSecret<Form extends { readonly secretKey: string }>(form: Form): Form {
  return { ...form, secretKey: '' };
}

/**
 * A state that survives a reload of the page: what a user types, and which dialog is open. It ends when its component does, as after Save and
 * Cancel. A reload removes no component.
 *
 * @param field - unique on its page
 * @param keep - returns what may be stored. Secrets may not.
 */
export function useDraft<Value>(
  field: string,
  initial: Value,
  keep: (value: Value) => Value = (value) => value,
): readonly [Value, Dispatch<SetStateAction<Value>>] {
  const { pathname, search } = useLocation();
  const name = `${pathname}${search} ${field}`;
  const [begun] = useState(() => JSON.stringify(initial));
  const [value, setValue] = useState<Value>(() => {
    const draft = drafts.read(name);
    return draft === undefined ? initial : (draft.value as Value);
  });
  const kept = JSON.stringify(keep(value));
  // The draft of a form that was sent is removed in the commit that removes the form, so that no reload comes between.
  useLayoutEffect(() => {
    if (kept === undefined || kept === begun) return undefined;
    drafts.write(name, JSON.parse(kept));
    return () => drafts.remove(name);
  }, [name, kept, begun]);
  return [value, setValue];
}
