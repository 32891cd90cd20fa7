import { Skeleton } from '@mantine/core';
import { useState } from 'react';
import type { AccessKeyAnswer } from '../../../contract/access-key-answers.ts';
import { useAccessKey, useChangeAccessKey } from '../api/access-keys.ts';
import { exampleDocument } from '../policies/policy-editor.tsx';
import { FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { AccessKeyFields, expiryOf, localTime } from './access-key-fields.tsx';
import type { AccessKeyForm } from './access-key-fields.tsx';

interface EditAccessKeyDialogProps {
  readonly accessKey: string;
  readonly onClose: () => void;
}

export function EditAccessKeyDialog({ accessKey, onClose }: EditAccessKeyDialogProps) {
  const key = useAccessKey(accessKey);
  if (key.isSuccess) return <EditForm known={key.data} onClose={onClose} />;
  return (
    <FormDialog
      title={`Access key ${accessKey}`}
      submit="Save"
      pending
      error={key.error}
      onSubmit={() => undefined}
      onClose={onClose}
    >
      <Skeleton h={180} />
    </FormDialog>
  );
}

function EditForm({ known, onClose }: { readonly known: AccessKeyAnswer; readonly onClose: () => void }) {
  const save = useChangeAccessKey();
  const [form, setForm] = useState<AccessKeyForm>({
    name: known.name ?? '',
    description: known.description ?? '',
    expires: known.expires === undefined ? '' : localTime(known.expires),
    narrow: known.policy !== undefined,
    policy: known.policy?.document ?? exampleDocument,
  });

  function submit(): void {
    // An end that was left alone stays to the second; the field knows minutes.
    const moved = form.expires !== (known.expires === undefined ? '' : localTime(known.expires));
    save.mutate(
      {
        key: known.accessKey,
        change: {
          name: form.name === '' ? null : form.name,
          description: form.description === '' ? null : form.description,
          ...(moved ? { expires: expiryOf(form) ?? null } : {}),
          policy: form.narrow ? form.policy : null,
        },
      },
      {
        onSuccess: () => {
          notifyDone(`${known.accessKey} is saved.`);
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={`Access key ${known.accessKey}`}
      submit="Save"
      wide={form.narrow}
      pending={save.isPending}
      error={save.error}
      fields={['expires', 'policy']}
      onSubmit={submit}
      onClose={onClose}
    >
      <AccessKeyFields form={form} onChange={setForm} error={save.error} />
    </FormDialog>
  );
}
