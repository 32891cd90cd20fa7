import { PasswordInput, Select, TextInput } from '@mantine/core';
import type { ProviderKey } from '../../../contract/provider-answers.ts';

interface KeyFieldProps {
  readonly field: ProviderKey;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

/** One key of a configuration, by the name that `mc` and the guides have for it. */
export function KeyField({ field, value, error, onChange }: KeyFieldProps) {
  const shared = { label: field.key, description: field.help, error };
  if (field.type === 'on-off') {
    return (
      <Select
        {...shared}
        data={['on', 'off']}
        placeholder="default"
        clearable
        value={value === '' ? null : value}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    );
  }
  const text = {
    ...shared,
    required: !field.optional,
    withAsterisk: false,
    spellCheck: false,
    autoComplete: 'off',
    value,
  } as const;
  if (field.secret) {
    // What is saved is not shown; left as it is, it stays.
    return (
      <PasswordInput {...text} autoComplete="new-password" onChange={(event) => onChange(event.currentTarget.value)} />
    );
  }
  return <TextInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />;
}
