import type { AccessKeyRow } from '../../../contract/access-key-answers.ts';
import { useDeleteAccessKey } from '../api/access-keys.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface DeleteAccessKeyDialogProps {
  readonly accessKey: AccessKeyRow;
  readonly onClose: () => void;
}

export function DeleteAccessKeyDialog({ accessKey: key, onClose }: DeleteAccessKeyDialogProps) {
  const remove = useDeleteAccessKey();
  const temporary = key.kind === 'temporary';
  return (
    <ConfirmDialog
      title={temporary ? `End the temporary key ${key.accessKey}?` : `Delete the access key ${key.accessKey}?`}
      submit={temporary ? 'End it' : 'Delete access key'}
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(key.accessKey, {
          onSuccess: () => {
            notifyDone(`${key.accessKey} is refused from now on.`);
            onClose();
          },
        })
      }
      onClose={onClose}
    >
      {key.current
        ? 'It is the one of this session: you are signed out by it.'
        : 'Programs that use it are refused from the next request on.'}
    </ConfirmDialog>
  );
}
