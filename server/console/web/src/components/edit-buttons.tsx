import { Button, Group } from '@mantine/core';
import { t } from '../texts/texts.ts';

interface EditButtonProps {
  readonly label: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function EditButton({ label, disabled = false, onClick }: EditButtonProps) {
  return (
    <Button size="compact-sm" variant="default" aria-label={label} disabled={disabled} onClick={onClick}>
      {t.labels.edit}
    </Button>
  );
}

interface SaveButtonsProps {
  readonly pending: boolean;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

export function SaveButtons({ pending, onSave, onCancel }: SaveButtonsProps) {
  return (
    <Group gap="xs">
      <Button size="compact-sm" loading={pending} onClick={onSave}>
        {t.labels.save}
      </Button>
      <Button size="compact-sm" variant="default" onClick={onCancel}>
        {t.labels.cancel}
      </Button>
    </Group>
  );
}
