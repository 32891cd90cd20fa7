import { useDeleteUser } from '../api/users.ts';
import { RemoveDialog } from '../shell/remove-dialog.tsx';

interface DeleteUserDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteUserDialog({ name, onClose, onDeleted }: DeleteUserDialogProps) {
  return (
    <RemoveDialog
      title={`Delete the user ${name}?`}
      submit="Delete user"
      remove={useDeleteUser()}
      what={name}
      done={`${name} is deleted.`}
      onDone={onDeleted}
      onClose={onClose}
    >
      Access keys and sessions of the user go with them. To keep them for later, disable the user instead.
    </RemoveDialog>
  );
}
