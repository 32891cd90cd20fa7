import { useRemoveProvider } from '../api/providers.ts';
import type { ProviderName } from '../api/providers.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface RemoveProviderDialogProps {
  readonly id: ProviderName;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function RemoveProviderDialog({ id, onClose, onRemoved }: RemoveProviderDialogProps) {
  const remove = useRemoveProvider();
  return (
    <ConfirmDialog
      title={`Remove the provider ${id.name}?`}
      submit="Remove provider"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(id, {
          onSuccess: () => {
            notifyDone(`${id.name} is removed.`);
            onRemoved();
          },
        })
      }
      onClose={onClose}
    >
      Nobody signs in by it any more, and its secrets are gone. To keep them for later, disable it instead.
    </ConfirmDialog>
  );
}
