import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useSetGroupPolicies } from '../api/groups.ts';
import { SetPoliciesDialog } from '../policies/set-policies-dialog.tsx';

export function GroupPoliciesDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const set = useSetGroupPolicies(group.name);
  return <SetPoliciesDialog holder={group} set={set} description="They count for every member." onClose={onClose} />;
}
