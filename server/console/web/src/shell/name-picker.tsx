import { MultiSelect, TagsInput } from '@mantine/core';
import type { Search } from './use-search.ts';

interface NamePickerProps {
  readonly label: string;
  readonly value: readonly string[];
  readonly onChange: (names: string[]) => void;
  /** What the server finds for the search; undefined where the person may not list: then names are typed. */
  readonly found: readonly string[] | undefined;
  readonly search: Search;
  /** Where nothing is found. */
  readonly nothing: string;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

/** Names picked from a list that the server searches, however long it is. */
export function NamePicker({ label, value, onChange, found, search, nothing, error, description }: NamePickerProps) {
  const shared = { label, error, value: [...value], onChange };
  if (found === undefined) return <TagsInput {...shared} description="Type a name, then Enter." />;
  // What was picked stays in the list when the search does not find it.
  const names = new Set([...found, ...value]);
  return (
    <MultiSelect
      {...shared}
      {...(description === undefined ? {} : { description })}
      data={[...names].toSorted()}
      searchable
      searchValue={search.text}
      onSearchChange={search.onText}
      clearable
      nothingFoundMessage={nothing}
    />
  );
}
