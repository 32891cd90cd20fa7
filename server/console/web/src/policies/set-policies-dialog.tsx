import type { ComponentProps } from 'react';
import { fieldError } from '../shell/form-dialog.tsx';
import { SetNamesDialog } from '../shell/set-names-dialog.tsx';
import { PolicyPicker } from './policy-picker.tsx';

interface SetPoliciesDialogProps extends Pick<ComponentProps<typeof SetNamesDialog>, 'set' | 'onClose'> {
  /** Whose policies they are. */
  readonly holder: { readonly name: string; readonly policies: readonly string[] };
  readonly description: string;
}

export function SetPoliciesDialog({ holder: { name, policies }, set, description, onClose }: SetPoliciesDialogProps) {
  return (
    <SetNamesDialog
      title={`Policies of ${name}`}
      names={policies}
      set={set}
      saved={`The policies of ${name} are saved: they count from the next request on.`}
      fields={['policies']}
      onClose={onClose}
    >
      {(value, onChange) => (
        <PolicyPicker
          value={value}
          onChange={onChange}
          error={fieldError(set.error, 'policies')}
          description={description}
        />
      )}
    </SetNamesDialog>
  );
}
