import { PasswordInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';

export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const create = useApiMutation(() => admin('POST', 'kms/key/create', { query: { 'key-id': name } }), ['keys']);
  return (
    <FormDialog
      title="Create key"
      submit="Create key"
      pending={create.isPending}
      error={create.error}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(undefined, {
          onSuccess: () => {
            notifyDone(`The key ${name} exists.`);
            onClose();
          },
        })
      }
    >
      <NameInput name={name} onName={setName} />
    </FormDialog>
  );
}

export function ImportKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [bytes, setBytes] = useState('');
  const add = useApiMutation(
    () => admin('POST', 'kms/key/import', { query: { 'key-id': name }, body: JSON.stringify({ bytes: bytes.trim() }) }),
    ['keys'],
  );
  return (
    <FormDialog
      title="Import key"
      submit="Import key"
      pending={add.isPending}
      error={add.error}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(undefined, {
          onSuccess: () => {
            notifyDone(`The key ${name} exists.`);
            onClose();
          },
        })
      }
    >
      <Text size="sm">For a key that data elsewhere is encrypted with. Whoever has it can read that data.</Text>
      <NameInput name={name} onName={setName} />
      <PasswordInput
        label="Key"
        description="32 bytes as base64"
        value={bytes}
        onChange={(event) => setBytes(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
        autoComplete="off"
        required
      />
    </FormDialog>
  );
}

function NameInput({ name, onName }: { readonly name: string; readonly onName: (name: string) => void }) {
  return (
    <TextInput
      label="Name"
      description="1 to 80 of A-Z a-z 0-9 _ -"
      value={name}
      onChange={(event) => onName(event.currentTarget.value)}
      data-autofocus
      required
    />
  );
}
