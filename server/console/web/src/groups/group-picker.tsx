import { MultiSelect, TagsInput } from '@mantine/core';
import { useGroups } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';

interface GroupPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
}

export function GroupPicker({ value, onChange }: GroupPickerProps) {
  const { may } = useRights();
  const mayList = may('admin:ListGroups') && may('admin:GetGroup');
  const groups = useGroups('', mayList);
  const shared = { label: 'Groups', value: [...value], onChange };
  if (!mayList) return <TagsInput {...shared} description="Type a name, then Enter." />;
  const names = new Set([...(groups.data?.groups ?? []).map(({ name }) => name), ...value]);
  return (
    <MultiSelect
      {...shared}
      data={[...names].toSorted()}
      searchable
      clearable
      nothingFoundMessage="There is no group of this name"
    />
  );
}
