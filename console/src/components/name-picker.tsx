import { MultiSelect, TagsInput } from '@mantine/core';
import { type Search, useSearch } from './list-page.tsx';
import { useRights } from '../api/session.ts';
import { useUsers } from '../api/users.ts';
import { useGroups } from '../api/groups.ts';
import { usePolicies } from '../api/policies.ts';
import { t } from '../texts/texts.ts';

interface NamePickerProps {
  readonly label: string;
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
  /** The names that the server found; undefined if the user may not list them and has to type names. */
  readonly found: readonly string[] | undefined;
  readonly search: Search;
  /** Shown if nothing is found. */
  readonly nothing: string;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

/** Picks names from a list that the server searches. */
function NamePicker({ label, value, onChange, found, search, nothing, error, description }: NamePickerProps) {
  const shared = { label, error, value: [...value], onChange };
  if (found === undefined) return <TagsInput {...shared} description={t.components.typeANameThenEnter} />;
  // Picked names stay in the list if the search does not find them.
  const names = new Set([...found, ...value]);
  return (
    <MultiSelect
      {...shared}
      description={description}
      data={[...names].toSorted()}
      searchable
      searchValue={search.text}
      onSearchChange={search.onText}
      clearable
      nothingFoundMessage={nothing}
    />
  );
}

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
    <NamePicker
      {...props}
      label={t.components.members}
      search={search}
      found={found}
      nothing={t.components.thereIsNoUserOfThisName}
    />
  );
}

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
    <NamePicker
      {...props}
      label={t.labels.groups}
      search={search}
      found={found}
      nothing={t.components.thereIsNoGroupOfThisName}
    />
  );
}

interface PolicyPickerProps {
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
  readonly error?: string | undefined;
  readonly description?: string;
}

export function PolicyPicker(props: PolicyPickerProps) {
  const mayList = useRights().may('admin:ListUserPolicies');
  const search = useSearch();
  const policies = usePolicies(search.contains, mayList).data ?? [];
  const found = mayList ? policies.map(({ name }) => name) : undefined;
  return (
    <NamePicker
      {...props}
      label={t.labels.policies}
      search={search}
      found={found}
      nothing={t.components.noPolicyHasThisName}
    />
  );
}
