import { MultiSelect, TagsInput } from '@mantine/core';
import { useRights } from '../api/rights.ts';
import { useUsers } from '../api/users.ts';

interface UserPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
}

export function UserPicker({ value, onChange }: UserPickerProps) {
  const mayList = useRights().may('admin:ListUsers');
  const users = useUsers('', mayList);
  const shared = { label: 'Members', value: [...value], onChange };
  if (!mayList) return <TagsInput {...shared} description="Type a name, then Enter." />;
  const names = new Set([...(users.data?.users ?? []).map(({ name }) => name), ...value]);
  return (
    <MultiSelect
      {...shared}
      data={[...names].toSorted()}
      searchable
      clearable
      nothingFoundMessage="There is no user of this name"
    />
  );
}
