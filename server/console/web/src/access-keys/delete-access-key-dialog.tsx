import type { AccessKeyRow } from '../../../contract/access-key-answers.ts';
import { useDeleteAccessKey } from '../api/access-keys.ts';
import { RemoveDialog } from '../shell/remove-dialog.tsx';

interface DeleteAccessKeyDialogProps {
  readonly accessKey: AccessKeyRow;
  readonly onClose: () => void;
}

export function DeleteAccessKeyDialog({ accessKey: key, onClose }: DeleteAccessKeyDialogProps) {
  const temporary = key.kind === 'temporary';
  return (
    <RemoveDialog
      title={temporary ? `End the temporary key ${key.accessKey}?` : `Delete the access key ${key.accessKey}?`}
      submit={temporary ? 'End it' : 'Delete access key'}
      remove={useDeleteAccessKey()}
      what={key.accessKey}
      done={`${key.accessKey} is refused from now on.`}
      onDone={onClose}
      onClose={onClose}
    >
      {key.current
        ? 'It is the one of this session: you are signed out by it.'
        : 'Programs that use it are refused from the next request on.'}
    </RemoveDialog>
  );
}
