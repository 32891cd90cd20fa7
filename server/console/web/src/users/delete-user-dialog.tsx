import { useDeleteUser } from '../api/users.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface DeleteUserDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteUserDialog({ name, onClose, onDeleted }: DeleteUserDialogProps) {
  const remove = useDeleteUser();
  return (
    <ConfirmDialog
      title={`Delete the user ${name}?`}
      submit="Delete user"
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
      Access keys and sessions of the user go with them. To keep them for later, disable the user instead.
    </ConfirmDialog>
  );
}
