import { useState } from 'react';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useSetGroupPolicies } from '../api/groups.ts';
import { PolicyPicker } from '../policies/policy-picker.tsx';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

interface GroupPoliciesDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
}

export function GroupPoliciesDialog({ group, onClose }: GroupPoliciesDialogProps) {
  const set = useSetGroupPolicies(group.name);
  const [policies, setPolicies] = useState(group.policies);

  function save(): void {
    set.mutate(policies, {
      onSuccess: () => {
        notifyDone(`The policies of ${group.name} are saved: they count from the next request on.`);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={`Policies of ${group.name}`}
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
        description="They count for every member."
      />
    </FormDialog>
  );
}
