import { Switch, TextInput, Button } from '@mantine/core';
import { PolicyEditor } from '../policies/policy-editor.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { NewAccessKeyAnswer, AccessKeyAnswer } from '../../../protocol/console/identity-answers.ts';
import { useSession } from '../api/session.ts';
import { CredentialsDialog } from '../components/credentials-dialog.tsx';
import { useCreateAccessKey, useAccessKey, useChangeAccessKey } from '../api/access-keys.ts';
import { TimeField } from '../components/time-field.tsx';
import { ownZone } from '../text/zoned-time.ts';
import { accessKeyChange, type AccessKeyForm, accessKeyForm, emptyKeyForm, expiryOf } from './access-key-change.ts';
import { notifyDone } from '../components/feedback.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface AccessKeyFieldsProps {
  readonly form: AccessKeyForm;
  readonly onChange: (form: AccessKeyForm) => void;
  readonly error: Error | null;
}

function AccessKeyFields({ form, onChange, error }: AccessKeyFieldsProps) {
  return (
    <>
      <TextInput
        label={t.labels.name}
        description={t.accessKeys.whatYouWillRecogniseItBy}
        data-autofocus
        autoComplete="off"
        maxLength={128}
        value={form.name}
        onChange={(event) => onChange({ ...form, name: event.currentTarget.value })}
      />
      <TextInput
        label={t.accessKeys.description}
        autoComplete="off"
        maxLength={256}
        value={form.description}
        onChange={(event) => onChange({ ...form, description: event.currentTarget.value })}
      />
      <TimeField
        label={t.accessKeys.expires}
        empty={t.accessKeys.leaveItEmptyForAKeyThat}
        value={form.expires}
        onChange={(expires) => onChange({ ...form, expires })}
        error={fieldError(error, 'expires')}
      />
      <Switch
        label={t.accessKeys.narrowItByAPolicyOfIts}
        description={t.accessKeys.otherwiseItMayDoWhateverItsOwner}
        checked={form.narrow}
        onChange={(event) => onChange({ ...form, narrow: event.currentTarget.checked })}
      />
      {form.narrow && (
        <PolicyEditor
          label={t.accessKeys.policy}
          value={form.policy}
          onChange={(policy) => onChange({ ...form, policy })}
        />
      )}
    </>
  );
}

/** Creates a key of the user, or of the named owner. */
export function CreateAccessKeyButton({ owner }: { readonly owner?: string }) {
  const [creating, setCreating] = useDraft('key.creating', false);
  const [made, setMade] = useState<NewAccessKeyAnswer>();
  const s3Url = useSession().data?.s3Url;
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
        {t.accessKeys.createAccessKey}
      </Button>
      {creating && (
        <CreateAccessKeyDialog
          owner={owner}
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setMade(key);
          }}
        />
      )}
      {made !== undefined && (
        <CredentialsDialog
          title={t.accessKeys.theAccessKeyIsCreated}
          credentials={made}
          s3Url={s3Url}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  );
}

interface CreateAccessKeyDialogProps {
  readonly owner?: string;
  readonly onCreated: (key: NewAccessKeyAnswer) => void;
  readonly onClose: () => void;
}

function CreateAccessKeyDialog({ owner, onCreated, onClose }: CreateAccessKeyDialogProps) {
  const create = useCreateAccessKey();
  const [form, setForm] = useDraft('key.form', emptyKeyForm);

  function submit(): void {
    const expires = expiryOf(form, ownZone());
    create.mutate(
      {
        owner,
        name: form.name,
        description: form.description,
        expires,
        policy: form.narrow ? form.policy : undefined,
      },
      { onSuccess: onCreated },
    );
  }

  return (
    <FormDialog
      title={owner === undefined ? t.accessKeys.createAnAccessKey : say(t.accessKeys.createAnAccessKeyFor, { owner })}
      submit={t.accessKeys.createAccessKey}
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

interface EditAccessKeyDialogProps {
  readonly accessKey: string;
  readonly onClose: () => void;
}

export function EditAccessKeyDialog({ accessKey, onClose }: EditAccessKeyDialogProps) {
  const key = useAccessKey(accessKey);
  if (key.isSuccess) return <EditForm known={key.data} onClose={onClose} />;
  return (
    <FormDialog
      title={say(t.accessKeys.accessKey, { accessKey })}
      submit={t.labels.save}
      pending
      error={key.error}
      onSubmit={() => undefined}
      onClose={onClose}
    >
      <LoadingRows height={180} />
    </FormDialog>
  );
}

function EditForm({ known, onClose }: { readonly known: AccessKeyAnswer; readonly onClose: () => void }) {
  const save = useChangeAccessKey();
  const zone = ownZone();
  const [form, setForm] = useDraft<AccessKeyForm>('key.form', accessKeyForm(known, zone));

  function submit(): void {
    const change = accessKeyChange(known, form, zone);
    if (change === undefined) {
      onClose();
      return;
    }
    save.mutate(
      {
        key: known.accessKey,
        change,
      },
      {
        onSuccess: () => {
          notifyDone(say(t.accessKeys.isSaved, { accessKey: known.accessKey }));
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={say(t.accessKeys.accessKey, { accessKey: known.accessKey })}
      submit={t.labels.save}
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
