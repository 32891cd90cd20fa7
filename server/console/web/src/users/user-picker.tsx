import { useRights } from '../api/rights.ts';
import { useUsers } from '../api/users.ts';
import { NamePicker } from '../shell/name-picker.tsx';
import { useSearch } from '../shell/use-search.ts';

interface UserPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
}

export function UserPicker(props: UserPickerProps) {
  const mayList = useRights().may('admin:ListUsers');
  const search = useSearch();
  const users = useUsers(search.contains, mayList).data ?? [];
  const found = mayList ? users.map(({ name }) => name) : undefined;
  return (
    <NamePicker {...props} label="Members" search={search} found={found} nothing="There is no user of this name" />
  );
}
