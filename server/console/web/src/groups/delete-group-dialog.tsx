import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useDeleteGroup } from '../api/groups.ts';
import { RemoveDialog } from '../shell/remove-dialog.tsx';

interface DeleteGroupDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteGroupDialog({ group: { name, members }, onClose, onDeleted }: DeleteGroupDialogProps) {
  return (
    <RemoveDialog
      title={`Delete the group ${name}?`}
      submit="Delete group"
      remove={useDeleteGroup()}
      what={name}
      done={`${name} is deleted.`}
      onDone={onDeleted}
      onClose={onClose}
    >
      {members.length === 0
        ? 'Nobody is a member. What is attached to the group goes with it.'
        : 'A group is deleted once it has no members: take them out first.'}
    </RemoveDialog>
  );
}
