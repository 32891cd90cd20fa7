import { useState } from 'react';
import type { UserRow } from '../../../contract/identity-answers.ts';
import { useSetUserGroups } from '../api/users.ts';
import { GroupPicker } from '../groups/group-picker.tsx';
import { FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface UserGroupsDialogProps {
  readonly user: UserRow;
  readonly onClose: () => void;
}

export function UserGroupsDialog({ user, onClose }: UserGroupsDialogProps) {
  const set = useSetUserGroups(user.name);
  const [groups, setGroups] = useState(user.groups);

  function save(): void {
    set.mutate(groups, {
      onSuccess: () => {
        notifyDone(`The groups of ${user.name} are saved.`);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={`Groups of ${user.name}`}
      submit="Save"
      pending={set.isPending}
      error={set.error}
      onSubmit={save}
      onClose={onClose}
    >
      <GroupPicker value={groups} onChange={setGroups} />
    </FormDialog>
  );
}
