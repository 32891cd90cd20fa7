import type { UserRow } from '../../../contract/identity-answers.ts';
import { useSetUserGroups } from '../api/users.ts';
import { GroupPicker } from '../groups/group-picker.tsx';
import { SetNamesDialog } from '../shell/set-names-dialog.tsx';

export function UserGroupsDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const title = `Groups of ${user.name}`;
  const saved = `The groups of ${user.name} are saved.`;
  return (
    <SetNamesDialog title={title} names={user.groups} set={useSetUserGroups(user.name)} saved={saved} onClose={onClose}>
      {(value, onChange) => <GroupPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}
