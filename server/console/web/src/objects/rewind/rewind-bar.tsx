import { Button, Group, TextInput } from '@mantine/core';
import { IconHistory, IconX } from '@tabler/icons-react';
import { localInput } from './current-at.ts';
import { t } from '../../texts/texts.ts';

interface RewindBarProps {
  /** Undefined: the folder as it is now. */
  readonly at: Date | undefined;
  readonly onChange: (at: Date | undefined) => void;
}

const hourMs = 3_600_000;

/** Chooses the moment at which the folder is shown. */
export function RewindBar({ at, onChange }: RewindBarProps) {
  if (at === undefined) {
    return (
      <Button
        px="sm"
        variant="default"
        leftSection={<IconHistory size={14} />}
        onClick={() => onChange(new Date(Date.now() - hourMs))}
      >
        {t.objects.rewind}
      </Button>
    );
  }
  return (
    <Group gap={6} wrap="nowrap" maw="100%">
      <TextInput
        flex={1}
        miw={0}
        type="datetime-local"
        step={1}
        aria-label={t.objects.showTheFolderAsItWasAt}
        // The browser keeps what is half typed: only a whole time changes the page.
        defaultValue={localInput(at)}
        max={localInput(new Date())}
        onChange={(event) => {
          const moment = new Date(event.currentTarget.value);
          if (!Number.isNaN(moment.getTime())) onChange(moment);
        }}
      />
      <Button px="sm" variant="default" leftSection={<IconX size={14} />} onClick={() => onChange(undefined)}>
        {t.objects.backToNow}
      </Button>
    </Group>
  );
}
