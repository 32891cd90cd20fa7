import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useSetGroupMembers } from '../api/groups.ts';
import { SetNamesDialog } from '../shell/set-names-dialog.tsx';
import { UserPicker } from '../users/user-picker.tsx';

export function GroupMembersDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const title = `Members of ${group.name}`;
  const saved = `The members of ${group.name} are saved.`;
  const set = useSetGroupMembers(group.name);
  return (
    <SetNamesDialog title={title} names={group.members} set={set} saved={saved} onClose={onClose}>
      {(value, onChange) => <UserPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}
