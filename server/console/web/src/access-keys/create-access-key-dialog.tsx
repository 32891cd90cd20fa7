import { useState } from 'react';
import type { NewAccessKeyAnswer } from '../../../contract/access-key-answers.ts';
import { useCreateAccessKey } from '../api/access-keys.ts';
import { FormDialog } from '../shell/form-dialog.tsx';
import { AccessKeyFields, emptyKey, expiryOf } from './access-key-fields.tsx';

interface CreateAccessKeyDialogProps {
  readonly owner?: string;
  readonly onCreated: (key: NewAccessKeyAnswer) => void;
  readonly onClose: () => void;
}

export function CreateAccessKeyDialog({ owner, onCreated, onClose }: CreateAccessKeyDialogProps) {
  const create = useCreateAccessKey();
  const [form, setForm] = useState(emptyKey);

  function submit(): void {
    const expires = expiryOf(form);
    create.mutate(
      {
        ...(owner === undefined ? {} : { owner }),
        name: form.name,
        description: form.description,
        ...(expires === undefined ? {} : { expires }),
        ...(form.narrow ? { policy: form.policy } : {}),
      },
      { onSuccess: onCreated },
    );
  }

  return (
    <FormDialog
      title={owner === undefined ? 'Create an access key' : `Create an access key for ${owner}`}
      submit="Create access key"
      wide={form.narrow}
      pending={create.isPending}
      error={create.error}
      fields={['expires', 'policy']}
      onSubmit={submit}
      onClose={onClose}
    >
      <AccessKeyFields form={form} onChange={setForm} error={create.error} />
    </FormDialog>
  );
}
