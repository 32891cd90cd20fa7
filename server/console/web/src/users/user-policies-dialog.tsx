import type { UserRow } from '../../../contract/identity-answers.ts';
import { useSetUserPolicies } from '../api/users.ts';
import { SetPoliciesDialog } from '../policies/set-policies-dialog.tsx';

export function UserPoliciesDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const set = useSetUserPolicies(user.name);
  const description = 'Those of the user’s groups come to these.';
  return <SetPoliciesDialog holder={user} set={set} description={description} onClose={onClose} />;
}
