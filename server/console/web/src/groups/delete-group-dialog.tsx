import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useDeleteGroup } from '../api/groups.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface DeleteGroupDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteGroupDialog({ group: { name, members }, onClose, onDeleted }: DeleteGroupDialogProps) {
  const remove = useDeleteGroup();
  return (
    <ConfirmDialog
      title={`Delete the group ${name}?`}
      submit="Delete group"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(name, {
          onSuccess: () => {
            notifyDone(`${name} is deleted.`);
            onDeleted();
          },
        })
      }
      onClose={onClose}
    >
      {members.length === 0
        ? 'Nobody is a member. What is attached to the group goes with it.'
        : 'A group is deleted once it has no members: take them out first.'}
    </ConfirmDialog>
  );
}
