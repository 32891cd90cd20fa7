import { useState } from 'react';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useSetGroupMembers } from '../api/groups.ts';
import { FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { UserPicker } from '../users/user-picker.tsx';

interface GroupMembersDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
}

export function GroupMembersDialog({ group, onClose }: GroupMembersDialogProps) {
  const set = useSetGroupMembers(group.name);
  const [members, setMembers] = useState(group.members);

  function save(): void {
    set.mutate(members, {
      onSuccess: () => {
        notifyDone(`The members of ${group.name} are saved.`);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={`Members of ${group.name}`}
      submit="Save"
      pending={set.isPending}
      error={set.error}
      onSubmit={save}
      onClose={onClose}
    >
      <UserPicker value={members} onChange={setMembers} />
    </FormDialog>
  );
}
