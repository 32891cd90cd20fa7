import { Checkbox, Group, PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { notifyDone } from '../../components/feedback.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { type NewTier, type Tier, useAddTier, useEditTier } from './tier-queries.ts';
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
          description={t.tiers.bothSpeakS3}
          allowDeselect={false}
          value={form.kind}
          onChange={(kind) => kind !== null && setForm({ ...form, kind })}
          data={[
            { value: 's3', label: 'S3' },
            { value: 'minio', label: t.tiers.cofferOrMinio },
          ]}
        />
      </Group>
      <TextInput
        label={t.labels.address}
        description={form.kind === 's3' ? t.tiers.emptyForAws : undefined}
        placeholder="https://cold.example.com"
        {...(form.kind === 's3' ? field('endpoint') : needed('endpoint'))}
      />
      <Group grow align="flex-start">
        <TextInput label={t.tiers.bucketThere} description={t.tiers.itMustExist} {...needed('bucket')} />
        <TextInput label={t.tiers.prefix} description={t.tiers.eachServerNeedsOneOfItsOwn} {...field('prefix')} />
      </Group>
      <Group grow align="flex-start">
        <TextInput label={t.labels.region} placeholder="us-east-1" {...field('region')} />
        <TextInput label={t.tiers.storageClass} placeholder={t.tiers.theDefault} {...field('storageClass')} />
      </Group>
      <Group grow align="flex-start">
        <TextInput label={t.labels.accessKey} {...needed('accessKey')} />
        <SecretInput {...needed('secretKey')} />
      </Group>
      <Checkbox
        label={t.tiers.takeABucketThatHasObjectsBelow}
        checked={form.force}
        onChange={(event) => setForm({ ...form, force: event.currentTarget.checked })}
      />
    </FormDialog>
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
          { name: tier.name, accessKey, secretKey },
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
      <TextInput
        label={t.labels.accessKey}
        required
        withAsterisk={false}
        {...noCompletion}
        value={accessKey}
        onChange={(event) => setAccessKey(event.currentTarget.value)}
      />
      <SecretInput
        required
        withAsterisk={false}
        {...noCompletion}
        value={secretKey}
        onChange={(event) => setSecretKey(event.currentTarget.value)}
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
