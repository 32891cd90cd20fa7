import { Button, Group } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
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

interface DeleteButtonProps {
  readonly label: string;
  readonly onClick: () => void;
}

/** Opens the question before something is deleted. */
export function DeleteButton({ label, onClick }: DeleteButtonProps) {
  return (
    <Button variant="default" c="var(--coffer-danger)" leftSection={<IconTrash size={16} />} onClick={onClick}>
      {label}
    </Button>
  );
}

interface EndButtonProps extends DeleteButtonProps {
  /** The text of the button. Its label names the row too. */
  readonly children: string;
}

/** Opens the question before what a row shows is ended. */
export function EndButton({ label, children, onClick }: EndButtonProps) {
  return (
    <Button size="compact-sm" variant="default" c="var(--coffer-danger)" aria-label={label} onClick={onClick}>
      {children}
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
