import { useRemoveProvider } from '../api/providers.ts';
import type { ProviderName } from '../api/providers.ts';
import { RemoveDialog } from '../shell/remove-dialog.tsx';

interface RemoveProviderDialogProps {
  readonly id: ProviderName;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function RemoveProviderDialog({ id, onClose, onRemoved }: RemoveProviderDialogProps) {
  return (
    <RemoveDialog
      title={`Remove the provider ${id.name}?`}
      submit="Remove provider"
      remove={useRemoveProvider()}
      what={id}
      done={`${id.name} is removed.`}
      onDone={onRemoved}
      onClose={onClose}
    >
      Nobody signs in by it any more, and its secrets are gone. To keep them for later, disable it instead.
    </RemoveDialog>
  );
}
