import { MultiSelect, TagsInput } from '@mantine/core';
import { usePolicies } from '../api/policies.ts';
import { useRights } from '../api/rights.ts';

interface PolicyPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
  readonly error?: string | undefined;
  readonly description?: string;
}

/** Names of policies: picked from the list, or typed by whoever may attach but not list them. */
export function PolicyPicker({ value, onChange, error, description }: PolicyPickerProps) {
  const { may } = useRights();
  const mayList = may('admin:ListUserPolicies');
  const policies = usePolicies('', mayList);
  const shared = { label: 'Policies', error, value: [...value], onChange };
  if (!mayList) return <TagsInput {...shared} description="Type a name, then Enter." />;
  // What is attached stays in the list when it is not among the first of it.
  const names = new Set([...(policies.data?.policies ?? []).map(({ name }) => name), ...value]);
  return (
    <MultiSelect
      {...shared}
      {...(description === undefined ? {} : { description })}
      data={[...names].toSorted()}
      searchable
      clearable
      nothingFoundMessage="No policy has this name"
    />
  );
}
