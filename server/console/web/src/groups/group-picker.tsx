import { useGroups } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { NamePicker } from '../shell/name-picker.tsx';
import { useSearch } from '../shell/use-search.ts';

interface GroupPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
}

export function GroupPicker(props: GroupPickerProps) {
  const { may } = useRights();
  const mayList = may('admin:ListGroups') && may('admin:GetGroup');
  const search = useSearch();
  const groups = useGroups(search.contains, mayList).data ?? [];
  const found = mayList ? groups.map(({ name }) => name) : undefined;
  return (
    <NamePicker {...props} label="Groups" search={search} found={found} nothing="There is no group of this name" />
  );
}
