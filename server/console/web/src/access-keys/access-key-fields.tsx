import { Switch, TextInput } from '@mantine/core';
import { exampleDocument, PolicyEditor } from '../policies/policy-editor.tsx';
import { fieldError } from '../shell/form-dialog.tsx';

export interface AccessKeyForm {
  readonly name: string;
  readonly description: string;
  /** As the browser's own field has it: local time without a zone; empty for never. */
  readonly expires: string;
  readonly narrow: boolean;
  readonly policy: string;
}

export const emptyKey: AccessKeyForm = {
  name: '',
  description: '',
  expires: '',
  narrow: false,
  policy: exampleDocument,
};

/** Undefined for never. */
export function expiryOf({ expires }: AccessKeyForm): string | undefined {
  return expires === '' ? undefined : new Date(expires).toISOString();
}

/** A moment as the browser's field takes it. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface AccessKeyFieldsProps {
  readonly form: AccessKeyForm;
  readonly onChange: (form: AccessKeyForm) => void;
  readonly error: Error | null;
}

export function AccessKeyFields({ form, onChange, error }: AccessKeyFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="What you will recognise it by."
        data-autofocus
        autoComplete="off"
        maxLength={128}
        value={form.name}
        onChange={(event) => onChange({ ...form, name: event.currentTarget.value })}
      />
      <TextInput
        label="Description"
        autoComplete="off"
        maxLength={256}
        value={form.description}
        onChange={(event) => onChange({ ...form, description: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        label="Expires"
        description="Leave it empty for a key that lasts."
        value={form.expires}
        onChange={(event) => onChange({ ...form, expires: event.currentTarget.value })}
        error={fieldError(error, 'expires')}
      />
      <Switch
        label="Narrow it by a policy of its own"
        description="Otherwise it may do whatever its owner may."
        checked={form.narrow}
        onChange={(event) => onChange({ ...form, narrow: event.currentTarget.checked })}
      />
      {form.narrow && (
        <PolicyEditor label="Policy" value={form.policy} onChange={(policy) => onChange({ ...form, policy })} />
      )}
    </>
  );
}
