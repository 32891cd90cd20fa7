import { PasswordInput, Switch } from '@mantine/core';
import { useState } from 'react';

interface SecretKeyChoiceProps {
  /** Undefined where the server makes one. */
  readonly value: string | undefined;
  readonly onChange: (secretKey: string | undefined) => void;
  readonly error: string | undefined;
}

/** A secret key that the server makes, or one that the person has in mind. */
export function SecretKeyChoice({ value, onChange, error }: SecretKeyChoiceProps) {
  // Typed, then switched off and on again, it is still there.
  const [typed, setTyped] = useState('');
  return (
    <>
      <Switch
        label="Choose the secret key myself"
        description="Otherwise the server makes one and shows it once."
        checked={value !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? typed : undefined)}
      />
      {value !== undefined && (
        <PasswordInput
          label="Secret key"
          description="8 to 128 characters."
          required
          withAsterisk={false}
          autoComplete="new-password"
          value={value}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            onChange(event.currentTarget.value);
          }}
          error={error}
        />
      )}
    </>
  );
}
