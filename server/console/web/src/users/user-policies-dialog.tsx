import { useState } from 'react';
import type { UserRow } from '../../../contract/identity-answers.ts';
import { useSetUserPolicies } from '../api/users.ts';
import { PolicyPicker } from '../policies/policy-picker.tsx';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface UserPoliciesDialogProps {
  readonly user: UserRow;
  readonly onClose: () => void;
}

export function UserPoliciesDialog({ user, onClose }: UserPoliciesDialogProps) {
  const set = useSetUserPolicies(user.name);
  const [policies, setPolicies] = useState(user.policies);

  function save(): void {
    set.mutate(policies, {
      onSuccess: () => {
        notifyDone(`The policies of ${user.name} are saved: they count from the next request on.`);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={`Policies of ${user.name}`}
      submit="Save"
      pending={set.isPending}
      error={set.error}
      fields={['policies']}
      onSubmit={save}
      onClose={onClose}
    >
      <PolicyPicker
        value={policies}
        onChange={setPolicies}
        error={fieldError(set.error, 'policies')}
        description="Those of the user’s groups come to these."
      />
    </FormDialog>
  );
}
