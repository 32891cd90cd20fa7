import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateGroup } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { PolicyPicker } from '../policies/policy-picker.tsx';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { UserPicker } from '../users/user-picker.tsx';

interface CreateGroupDialogProps {
  readonly onCreated: (name: string) => void;
  readonly onClose: () => void;
}

export function CreateGroupDialog({ onCreated, onClose }: CreateGroupDialogProps) {
  const { may } = useRights();
  const create = useCreateGroup();
  const [name, setName] = useState('');
  const [members, setMembers] = useState<readonly string[]>([]);
  const [policies, setPolicies] = useState<readonly string[]>([]);

  function submit(): void {
    create.mutate(
      { name: name.trim(), members, policies },
      {
        onSuccess: (group) => {
          notifyDone(`${group.name} is created.`);
          onCreated(group.name);
        },
      },
    );
  }

  return (
    <FormDialog
      title="Create a group"
      submit="Create group"
      pending={create.isPending}
      error={create.error}
      fields={['name', 'policies']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(create.error, 'name')}
      />
      <UserPicker value={members} onChange={setMembers} />
      {may('admin:AttachUserOrGroupPolicy') && (
        <PolicyPicker value={policies} onChange={setPolicies} error={fieldError(create.error, 'policies')} />
      )}
    </FormDialog>
  );
}
