import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { PolicyHolder } from '../../../contract/identity-answers.ts';
import { useAttach } from '../api/policies.ts';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { describeHolder, holderKinds } from './holder-kinds.ts';

interface AttachDialogProps {
  readonly policy: string;
  readonly onClose: () => void;
}

const names: Readonly<Record<Exclude<PolicyHolder['kind'], 'claim'>, string>> = {
  user: 'The name of a user of this store.',
  group: 'The name of a group of this store.',
  'ldap-user': 'A name or a distinguished name; the directory must know it.',
  'ldap-group': 'A distinguished name, such as cn=staff,dc=example,dc=org.',
};

export function AttachDialog({ policy, onClose }: AttachDialogProps) {
  const attach = useAttach(policy);
  const [kind, setKind] = useState<PolicyHolder['kind']>('user');
  const [name, setName] = useState('');
  const [provider, setProvider] = useState('_');
  const [claim, setClaim] = useState('sub');
  const [value, setValue] = useState('');

  function submit(): void {
    const holder: PolicyHolder = kind === 'claim' ? { kind, provider, claim, value } : { kind, name };
    attach.mutate(holder, {
      onSuccess: () => {
        notifyDone(`${policy} is attached to ${describeHolder(holder)}.`);
        onClose();
      },
    });
  }

  const text = { required: true, withAsterisk: false, spellCheck: false, autoComplete: 'off' } as const;
  return (
    <FormDialog
      title={`Attach ${policy}`}
      submit="Attach"
      pending={attach.isPending}
      error={attach.error}
      fields={['name', 'provider', 'claim', 'value']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Select
        label="To"
        data={Object.entries(holderKinds).map(([one, label]) => ({ value: one, label }))}
        value={kind}
        onChange={(chosen) => setKind(kindOf(chosen))}
        allowDeselect={false}
      />
      {kind === 'claim' ? (
        <>
          <TextInput
            {...text}
            label="Provider"
            description="The name of its configuration, _ where it has none."
            value={provider}
            onChange={(event) => setProvider(event.currentTarget.value)}
            error={fieldError(attach.error, 'provider')}
          />
          <TextInput
            {...text}
            label="Claim"
            description="Its name, or a path with / into claims, such as kubernetes.io/namespace."
            value={claim}
            onChange={(event) => setClaim(event.currentTarget.value)}
            error={fieldError(attach.error, 'claim')}
          />
          <TextInput
            {...text}
            label="Value"
            description="* and ? are wild, such as system:serviceaccount:apps:*."
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            error={fieldError(attach.error, 'value')}
          />
        </>
      ) : (
        <TextInput
          {...text}
          label="Name"
          description={names[kind]}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(attach.error, 'name')}
        />
      )}
    </FormDialog>
  );
}

function kindOf(chosen: string | null): PolicyHolder['kind'] {
  const found = Object.keys(holderKinds).find((kind) => kind === chosen);
  return (found ?? 'user') as PolicyHolder['kind'];
}
