import { ActionIcon, Group, Stack } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface RuleCardProps {
  /** The name for the labels of the buttons, for example `rule 1`. */
  readonly name: string;
  readonly mayEdit: boolean;
  /** Absent for a rule that the page cannot edit. */
  readonly onEdit?: (() => void) | undefined;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}

/** A rule of a bucket with the buttons that edit and remove it. */
export function RuleCard({ name, mayEdit, onEdit, onRemove, children }: RuleCardProps) {
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
      <Stack gap={2} miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Stack>
      {mayEdit && (
        <Group gap={2} wrap="nowrap">
          {onEdit !== undefined && (
            <ActionIcon size="sm" aria-label={say(t.bucketSettings.editTheRule, { name })} onClick={onEdit}>
              <IconPencil size={15} />
            </ActionIcon>
          )}
          <ActionIcon size="sm" aria-label={say(t.bucketSettings.removeTheRule, { name })} onClick={onRemove}>
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}
