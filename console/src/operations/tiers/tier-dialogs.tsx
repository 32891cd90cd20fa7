import { Checkbox, FileInput, Group, PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { notifyDone } from '../../components/feedback.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { type NewTier, type Tier, type TierKind, useAddTier, useEditTier } from './tier-queries.ts';
import { say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';
import { useDraft, withoutSecret } from '../../components/use-draft.ts';

const noCompletion = { spellCheck: false, autoCapitalize: 'none', autoComplete: 'off' } as const;

type TextField = Exclude<keyof NewTier, 'kind' | 'force'>;

const nothing: NewTier = {
  name: '',
  kind: 's3',
  endpoint: '',
  bucket: '',
  prefix: '',
  region: '',
  storageClass: '',
  accessKey: '',
  secretKey: '',
  force: false,
};

/** Adds a tier. The server tries each kind of call before it takes it. */
export function AddTierDialog({ onClose }: { readonly onClose: () => void }) {
  const add = useAddTier();
  const [form, setForm] = useDraft('tier', nothing, withoutSecret);
  const field = (name: TextField) => ({
    ...noCompletion,
    value: form[name],
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setForm({ ...form, [name]: event.currentTarget.value }),
  });
  const needed = (name: TextField) => ({ ...field(name), required: true, withAsterisk: false });
  return (
    <FormDialog
      title={t.tiers.addATier}
      submit={t.tiers.addTier}
      wide
      pending={add.isPending}
      error={add.error}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(
          { ...form, name: form.name.toUpperCase(), endpoint: form.endpoint.trim().replace(/\/$/, '') },
          {
            onSuccess: () => {
              notifyDone(t.tiers.theTierIsAddedLifecycleRulesCan);
              onClose();
            },
          },
        )
      }
    >
      <Group grow align="flex-start">
        <TextInput
          label={t.labels.name}
          description={t.tiers.inCapitalLettersTheStorageClassOf}
          placeholder="COLD"
          data-autofocus
          {...needed('name')}
        />
        <Select
          label={t.labels.kind}
          allowDeselect={false}
          value={form.kind}
          onChange={(kind) => kind !== null && setForm({ ...form, kind })}
          data={[
            { value: 's3', label: 'S3' },
            { value: 'minio', label: t.tiers.cofferOrMinio },
            { value: 'azure', label: 'Azure Blob Storage' },
            { value: 'gcs', label: 'Google Cloud Storage' },
          ]}
        />
      </Group>
      <TextInput
        label={t.labels.address}
        description={form.kind === 'minio' ? undefined : emptyAddress[form.kind]}
        placeholder="https://cold.example.com"
        {...(form.kind === 'minio' ? needed('endpoint') : field('endpoint'))}
      />
      <Group grow align="flex-start">
        <TextInput
          label={form.kind === 'azure' ? t.tiers.container : t.tiers.bucketThere}
          description={t.tiers.itMustExist}
          {...needed('bucket')}
        />
        <TextInput label={t.tiers.prefix} description={t.tiers.eachServerNeedsOneOfItsOwn} {...field('prefix')} />
      </Group>
      <Group grow align="flex-start">
        {speaksS3(form.kind) && <TextInput label={t.labels.region} placeholder="us-east-1" {...field('region')} />}
        <TextInput label={t.tiers.storageClass} placeholder={t.tiers.theDefault} {...field('storageClass')} />
      </Group>
      <Group grow align="flex-start">
        <KeyFields
          kind={form.kind}
          access={needed('accessKey')}
          secret={needed('secretKey')}
          onKeyFile={(secretKey) => setForm({ ...form, secretKey })}
        />
      </Group>
      <Checkbox
        label={t.tiers.takeABucketThatHasObjectsBelow}
        checked={form.force}
        onChange={(event) => setForm({ ...form, force: event.currentTarget.checked })}
      />
    </FormDialog>
  );
}

const emptyAddress = { s3: t.tiers.emptyForAws, azure: t.tiers.emptyForAzure, gcs: t.tiers.emptyForGoogle } as const;

const speaksS3 = (kind: TierKind) => kind === 's3' || kind === 'minio';

type TextProps = Omit<Parameters<typeof TextInput>[0], 'label'>;

interface KeyFieldsProps {
  readonly kind: TierKind;
  readonly access: TextProps;
  readonly secret: Omit<Parameters<typeof PasswordInput>[0], 'label'>;
  /** Called with the text of the key file of a service account. */
  readonly onKeyFile: (text: string) => void;
}

/** The keys of a tier: a name and a secret, or the key file of a service account of Google. */
function KeyFields({ kind, access, secret, onKeyFile }: KeyFieldsProps) {
  const [file, setFile] = useState<File | null>(null);
  if (kind === 'gcs') {
    return (
      <FileInput
        label={t.tiers.keyFileOfTheServiceAccount}
        description={t.tiers.theJsonFileThatGoogleGives}
        placeholder={t.tiers.pickAFile}
        accept=".json,application/json"
        required
        withAsterisk={false}
        value={file}
        onChange={(picked) => {
          setFile(picked);
          void picked?.text().then(onKeyFile);
        }}
      />
    );
  }
  if (kind === 'azure') {
    return (
      <>
        <TextInput label={t.tiers.accountName} {...access} />
        <SecretInput label={t.tiers.accountKey} {...secret} />
      </>
    );
  }
  return (
    <>
      <TextInput label={t.labels.accessKey} {...access} />
      <SecretInput {...secret} />
    </>
  );
}

/** Changes the keys of a tier. */
export function TierKeysDialog({ tier, onClose }: { readonly tier: Tier; readonly onClose: () => void }) {
  const edit = useEditTier();
  const [accessKey, setAccessKey] = useDraft('keys.accessKey', tier.accessKey);
  const [secretKey, setSecretKey] = useState('');
  return (
    <FormDialog
      title={say(t.tiers.newKeysOfTheTier, { name: tier.name })}
      submit={t.tiers.changeKeys}
      pending={edit.isPending}
      error={edit.error}
      onClose={onClose}
      onSubmit={() =>
        edit.mutate(
          { name: tier.name, kind: tier.kind, accessKey, secretKey },
          {
            onSuccess: () => {
              notifyDone(say(t.tiers.theTierHasNewKeys, { name: tier.name }));
              onClose();
            },
          },
        )
      }
    >
      <Text size="sm">{t.tiers.theServerTriesThemBeforeItTakes}</Text>
      <KeyFields
        kind={tier.kind}
        access={{
          ...noCompletion,
          required: true,
          withAsterisk: false,
          value: accessKey,
          onChange: (event) => setAccessKey(event.currentTarget.value),
        }}
        secret={{
          ...noCompletion,
          required: true,
          withAsterisk: false,
          value: secretKey,
          onChange: (event) => setSecretKey(event.currentTarget.value),
        }}
        onKeyFile={setSecretKey}
      />
    </FormDialog>
  );
}

function SecretInput(props: Parameters<typeof PasswordInput>[0]) {
  return (
    <PasswordInput
      label={t.labels.secretKey}
      visibilityToggleButtonProps={{ 'aria-label': t.tiers.showTheSecretKey }}
      {...props}
    />
  );
}
