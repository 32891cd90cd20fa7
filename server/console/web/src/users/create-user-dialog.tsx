import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SecretAnswer } from '../../../contract/identity-answers.ts';
import { useRights } from '../api/rights.ts';
import { useCreateUser } from '../api/users.ts';
import { GroupPicker } from '../groups/group-picker.tsx';
import { PolicyPicker } from '../policies/policy-picker.tsx';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { SecretKeyChoice } from './secret-key-choice.tsx';

interface CreateUserDialogProps {
  readonly onCreated: (user: SecretAnswer) => void;
  readonly onClose: () => void;
}

export function CreateUserDialog({ onCreated, onClose }: CreateUserDialogProps) {
  const { may } = useRights();
  const create = useCreateUser();
  const [name, setName] = useState('');
  const [secretKey, setSecretKey] = useState<string>();
  const [policies, setPolicies] = useState<readonly string[]>([]);
  const [groups, setGroups] = useState<readonly string[]>([]);

  function submit(): void {
    create.mutate(
      { name: name.trim(), ...(secretKey === undefined ? {} : { secretKey }), policies, groups },
      {
        onSuccess: (user) => {
          notifyDone(`${user.name} is created.`);
          onCreated(user);
        },
      },
    );
  }

  return (
    <FormDialog
      title="Create a user"
      submit="Create user"
      pending={create.isPending}
      error={create.error}
      fields={['name', 'secretKey', 'policies']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="It is the access key too: 3 to 128 letters, digits and signs."
        required
        withAsterisk={false}
        data-autofocus
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(create.error, 'name')}
      />
      <SecretKeyChoice value={secretKey} onChange={setSecretKey} error={fieldError(create.error, 'secretKey')} />
      {may('admin:AttachUserOrGroupPolicy') && (
        <PolicyPicker
          value={policies}
          onChange={setPolicies}
          error={fieldError(create.error, 'policies')}
          description="Without any the user may do nothing."
        />
      )}
      {may('admin:AddUserToGroup') && <GroupPicker value={groups} onChange={setGroups} />}
    </FormDialog>
  );
}
