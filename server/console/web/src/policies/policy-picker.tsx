import { usePolicies } from '../api/policies.ts';
import { useRights } from '../api/rights.ts';
import { NamePicker } from '../shell/name-picker.tsx';
import { useSearch } from '../shell/use-search.ts';

interface PolicyPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
  readonly error?: string | undefined;
  readonly description?: string;
}

/** Names of policies: picked from the list, or typed by whoever may attach but not list them. */
export function PolicyPicker(props: PolicyPickerProps) {
  const mayList = useRights().may('admin:ListUserPolicies');
  const search = useSearch();
  const policies = usePolicies(search.contains, mayList).data ?? [];
  const found = mayList ? policies.map(({ name }) => name) : undefined;
  return <NamePicker {...props} label="Policies" search={search} found={found} nothing="No policy has this name" />;
}
