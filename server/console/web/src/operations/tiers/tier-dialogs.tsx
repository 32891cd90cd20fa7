import { Checkbox, Group, PasswordInput, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { notifyDone } from '../../components/feedback.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { type NewTier, type Tier, useAddTier, useEditTier } from './tier-queries.ts';

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
  const [form, setForm] = useState(nothing);
  const field = (name: TextField) => ({
    ...noCompletion,
    value: form[name],
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setForm({ ...form, [name]: event.currentTarget.value }),
  });
  const needed = (name: TextField) => ({ ...field(name), required: true, withAsterisk: false });
  return (
    <FormDialog
      title="Add a tier"
      submit="Add tier"
      wide
      pending={add.isPending}
      error={add.error}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(
          { ...form, name: form.name.toUpperCase(), endpoint: form.endpoint.trim().replace(/\/$/, '') },
          {
            onSuccess: () => {
              notifyDone('The tier is added. Lifecycle rules can move bodies to it.');
              onClose();
            },
          },
        )
      }
    >
      <Group grow align="flex-start">
        <TextInput
          label="Name"
          description="In capital letters; the storage class of what is there"
          placeholder="COLD"
          data-autofocus
          {...needed('name')}
        />
        <Select
          label="Kind"
          description="Both speak S3"
          allowDeselect={false}
          value={form.kind}
          onChange={(kind) => kind !== null && setForm({ ...form, kind })}
          data={[
            { value: 's3', label: 'S3' },
            { value: 'minio', label: 'Coffer or MinIO' },
          ]}
        />
      </Group>
      <TextInput
        label="Address"
        description={form.kind === 's3' ? 'Empty for AWS' : undefined}
        placeholder="https://cold.example.com"
        {...(form.kind === 's3' ? field('endpoint') : needed('endpoint'))}
      />
      <Group grow align="flex-start">
        <TextInput label="Bucket there" description="It must exist" {...needed('bucket')} />
        <TextInput label="Prefix" description="Each server needs one of its own" {...field('prefix')} />
      </Group>
      <Group grow align="flex-start">
        <TextInput label="Region" placeholder="us-east-1" {...field('region')} />
        <TextInput label="Storage class" placeholder="the default" {...field('storageClass')} />
      </Group>
      <Group grow align="flex-start">
        <TextInput label="Access key" {...needed('accessKey')} />
        <SecretInput {...needed('secretKey')} />
      </Group>
      <Checkbox
        label="Take a bucket that has objects below the prefix"
        checked={form.force}
        onChange={(event) => setForm({ ...form, force: event.currentTarget.checked })}
      />
    </FormDialog>
  );
}

/** Changes the keys of a tier. */
export function TierKeysDialog({ tier, onClose }: { readonly tier: Tier; readonly onClose: () => void }) {
  const edit = useEditTier();
  const [accessKey, setAccessKey] = useState(tier.accessKey);
  const [secretKey, setSecretKey] = useState('');
  return (
    <FormDialog
      title={`New keys of the tier ${tier.name}`}
      submit="Change keys"
      pending={edit.isPending}
      error={edit.error}
      onClose={onClose}
      onSubmit={() =>
        edit.mutate(
          { name: tier.name, accessKey, secretKey },
          {
            onSuccess: () => {
              notifyDone(`The tier ${tier.name} has new keys.`);
              onClose();
            },
          },
        )
      }
    >
      <Text size="sm">The server tries them before it takes them.</Text>
      <TextInput
        label="Access key"
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
      label="Secret key"
      visibilityToggleButtonProps={{ 'aria-label': 'Show the secret key' }}
      {...props}
    />
  );
}
