import { Group, Select, TextInput } from '@mantine/core';
import { type EditedSize, units } from '../bucket-settings/quota-size.ts';
import { t } from '../texts/texts.ts';

interface SizeFieldsProps {
  readonly label: string;
  readonly focused?: boolean;
  readonly size: EditedSize;
  readonly onChange: (size: EditedSize) => void;
}

/** A number of bytes with its unit. */
export function SizeFields({ label, focused = false, size, onChange }: SizeFieldsProps) {
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        label={label}
        description={t.components.emptyOr0NoQuota}
        type="number"
        min={0}
        step="any"
        w={180}
        data-autofocus={focused || undefined}
        value={size.count}
        onChange={(event) => onChange({ ...size, count: event.currentTarget.value })}
      />
      <Select
        aria-label={t.components.unit}
        w={100}
        allowDeselect={false}
        data={[...units]}
        value={size.unit}
        onChange={(unit) => onChange({ ...size, unit: unit ?? 'GiB' })}
      />
    </Group>
  );
}
