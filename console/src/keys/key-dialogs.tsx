import { PasswordInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { useDraft } from '../components/use-draft.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useDraft('key.name', '');
  const create = useApiMutation(() => admin('POST', 'kms/key/create', { query: { 'key-id': name } }), ['keys']);
  return (
    <FormDialog
      title={t.keys.createKey}
      submit={t.keys.createKey}
      pending={create.isPending}
      error={create.error}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(undefined, {
          onSuccess: () => {
            notifyDone(say(t.keys.theKeyExists, { name }));
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
  const [name, setName] = useDraft('key.name', '');
  const [bytes, setBytes] = useState('');
  const add = useApiMutation(
    () => admin('POST', 'kms/key/import', { query: { 'key-id': name }, body: JSON.stringify({ bytes: bytes.trim() }) }),
    ['keys'],
  );
  return (
    <FormDialog
      title={t.keys.importKey}
      submit={t.keys.importKey}
      pending={add.isPending}
      error={add.error}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(undefined, {
          onSuccess: () => {
            notifyDone(say(t.keys.theKeyExists, { name }));
            onClose();
          },
        })
      }
    >
      <Text size="sm">{t.keys.forAKeyThatDataElsewhereIs}</Text>
      <NameInput name={name} onName={setName} />
      <PasswordInput
        label={t.keys.key}
        description={t.keys.n32BytesAsBase64}
        value={bytes}
        onChange={(event) => setBytes(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': t.keys.showTheKey }}
        autoComplete="off"
        required
      />
    </FormDialog>
  );
}

function NameInput({ name, onName }: { readonly name: string; readonly onName: (name: string) => void }) {
  return (
    <TextInput
      label={t.labels.name}
      description={t.keys.n1To80OfAZA}
      value={name}
      onChange={(event) => onName(event.currentTarget.value)}
      data-autofocus
      required
    />
  );
}
